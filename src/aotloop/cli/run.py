"""`aot run`: takes a loop to its end, however that is, and says which one it was by its exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from aotloop import app
from aotloop.cli.allowance import allowance_in_words
from aotloop.cli.consent import consent_of, require_config_consent, require_consent
from aotloop.cli.dry_run import show_plan
from aotloop.cli.failures import hopeless_of
from aotloop.cli.foreign import prose
from aotloop.cli.live import spectator
from aotloop.cli.options import AMOUNT, DURATION, json_option, state_file_option, yes_option
from aotloop.cli.output import mark, named, say_next, tell
from aotloop.core.graph import Graph
from aotloop.core.limits import EFFORTS
from aotloop.core.measure import attempts_allowed, attempts_left
from aotloop.core.model import Loop
from aotloop.errors import StateFileError
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

EXIT_CODES = {"stalled": 4, "exhausted": 4, "limit": 5, "blocked": 6, "user": 7}
"""By the first word of the reason why a run ended; 0 if the base case holds."""

NOT_READY = 3


@click.command(
    "run",
    epilog="""\b
Examples:
  aot run                               until the base case holds, or nothing is left to try
  aot run --agent claude --max-cost 20 --max-runtime 8h
  aot run --dry-run --max-parallel 8    what would happen, and how long it would take
  aot run --yes --json | jq -c .
\b
Exit codes:
  0 the base case holds    3 not ready, or the file is invalid    5 a limit was reached
  1 an error               4 stalled or exhausted                 6 waits for a person
  7 stopped by a person    130 interrupted
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--dry-run", is_flag=True, help="Only show the plan: what would happen if every attempt succeeded.")
@click.option("--max-parallel", type=click.IntRange(1), metavar="N", help="Slots [default: max_parallel_agents].")
@click.option(
    "--effort",
    type=click.Choice(list(EFFORTS)),
    help="Attempts, iterations and stalls, where the file does not set them itself [default: as in the file].",
)
@click.option(
    "--max-total-attempts", type=click.IntRange(1), metavar="N", help="All in all [default: a share for each atom]."
)
@click.option("--max-iterations", type=click.IntRange(1), metavar="N", help="All in all [default: as in the file].")
@click.option("--max-cost", type=AMOUNT, metavar="USD", help="All in all [default: as in the file].")
@click.option("--max-runtime", type=DURATION, metavar="TIME", help="All in all, e.g. 3h [default: as in the file].")
@click.option("--agent", metavar="NAME", help="Who does atoms that have no `run` [default: as configured].")
@click.option("--branch", metavar="NAME", help="Work on this branch; it is made if there is none.")
@click.option("--isolation", type=click.Choice(["worktree", "none"]), help="Where attempts are made.")
@click.option("--allow-dirty", is_flag=True, default=None, help="Go on though there are uncommitted changes.")
@click.option("--take-over", is_flag=True, help="Take the loop from the session that drives it.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    state_file: str | None,
    as_json: bool,
    yes: bool,
    dry_run: bool,
    max_parallel: int | None,
    effort: str | None,
    max_total_attempts: int | None,
    max_iterations: int | None,
    max_cost: float | None,
    max_runtime: str | None,
    branch: str | None,
    take_over: bool,
    **flags: Any,
) -> None:
    """Run the loop until its base case holds, or say exactly why it cannot.

    Commands do the atoms that have `run`, agents do the others, each in a git worktree of its own. Limits given here
    hold for this run only. `aot watch` shows it from another terminal, `aot stop` and `aot redirect` interrupt it;
    after a crash, `aot run` goes on where it was.
    """
    limits = {
        "max_parallel_agents": max_parallel,
        "effort": effort,
        "max_total_attempts": max_total_attempts,
        "max_iterations": max_iterations,
        "max_cost_usd": max_cost,
        "max_runtime": max_runtime,
    }
    given = {name: value for name, value in limits.items() if value is not None}
    with _not_ready():
        store = app.open_store(state_file)
        if dry_run:
            ctx.exit(_code_of(show_plan(store, given, as_json=as_json)))
        wishes = {"limits": given, "branch": branch, "take_over": take_over}
        ctx.exit(_run(store, wishes, flags, yes=yes, as_json=as_json))


def _run(store: Store, wishes: dict[str, Any], flags: dict[str, Any], *, yes: bool, as_json: bool) -> int:
    from aotloop.config import load  # noqa: PLC0415 - planning needs none of this
    from aotloop.launch import Wishes, run_loop  # noqa: PLC0415

    config = load(Path(project_root(store.path)), flags=flags)
    require_config_consent(config, yes=yes)
    accepted = consent_of(store, require_consent(store, yes=yes))
    loop = store.load()
    if not as_json and loop.control.status != "completed":
        tell(allowance_in_words(loop, wishes["limits"]), err=True)
    ending = run_loop(store, config, Wishes(**wishes, is_accepted=accepted), spectator(as_json=as_json))
    if not as_json:
        _tell(store.load(), ending.status, ending.reason, worked=ending.worked)
    if ending.signal is not None:
        return 128 + ending.signal
    return _code_of(ending.reason)


def _code_of(reason: str | None) -> int:
    return 0 if reason is None else EXIT_CODES.get(reason.partition(":")[0], 1)


@contextmanager
def _not_ready() -> Iterator[None]:
    try:
        yield
    except StateFileError as error:
        error.exit_code = NOT_READY
        raise


def _tell(loop: Loop, status: str, reason: str | None, *, worked: bool) -> None:
    if status == "completed":
        said = "the base case holds" if worked else "the base case holds already: no work was done"
        tell(said, head=f"{mark(True)} ")
        say_next("aot graph", "aot log", "git log")
        return
    tell(prose(f"stopped: {reason}"), head=f"{mark(False)} ")
    say_next(*_next_steps(loop, (reason or "").partition(":")[0]))


def _next_steps(loop: Loop, kind: str) -> list[str]:
    verdict = loop.control.verdict
    if kind == "blocked" and (hopeless := hopeless_of(Graph(loop))):
        return [f"aot log {named(hopeless)}", "aot redirect"]
    if kind == "blocked":
        return ["aot confirm"] if verdict is not None and verdict.undecided else ["aot status", "aot run"]
    if kind == "limit" and not attempts_left(loop):
        return ["aot status", f"aot run --max-total-attempts {2 * attempts_allowed(loop)}", "aot redirect"]
    if kind == "limit":
        return ["aot status", "aot run with a higher limit"]
    if kind == "user":
        return ["aot run", "aot redirect"]
    return ["aot log", "aot redirect"]
