"""`aot run`: it runs a loop to its end, and the exit code says how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from aotloop.app.loops import open_store
from aotloop.app.preflight.consent import acceptance_of
from aotloop.cli.live.keys.run_actions import RunActions
from aotloop.cli.live.observers import Announced, observer_for
from aotloop.cli.ui.allowance import allowance_in_words
from aotloop.cli.ui.consent_dialog import require_config_consent, require_consent
from aotloop.cli.ui.dry_run import show_plan
from aotloop.cli.ui.failures import hopeless_of
from aotloop.cli.ui.options import AMOUNT, DURATION, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import mark, named, say_next, tell, tell_problem
from aotloop.cli.ui.prompts import is_interactive
from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import EFFORTS
from aotloop.core.measure import attempts_allowed, attempts_left
from aotloop.core.model import Loop
from aotloop.errors import StateFileError
from aotloop.exit_codes import BY_SIGNAL, NOT_READY, code_of, help_table
from aotloop.process.sandbox import Policy, in_force
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose


@click.command(
    "run",
    epilog=f"""\b
Examples:
  aot run                               until the base case holds, or nothing more can be tried
  aot run --agent claude --max-cost 20 --max-runtime 8h
  aot run --dry-run --max-parallel 8    show the plan and how long it takes
  aot run --yes --json | jq -c .
{help_table("the base case holds")}
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--dry-run", is_flag=True, help="Only show the plan, as if every attempt succeeded.")
@click.option("--max-parallel", type=click.IntRange(1), metavar="N", help="Slots [default: max_parallel_agents].")
@click.option(
    "--effort",
    type=click.Choice(list(EFFORTS)),
    help="Sets attempts, iterations and stalls that the file does not set [default: as in the file].",
)
@click.option(
    "--max-total-attempts",
    type=click.IntRange(1),
    metavar="N",
    help="Limit of attempts [default: a share for each atom].",
)
@click.option(
    "--max-iterations", type=click.IntRange(1), metavar="N", help="Limit of iterations [default: as in the file]."
)
@click.option("--max-cost", type=AMOUNT, metavar="USD", help="Limit of cost [default: as in the file].")
@click.option("--max-runtime", type=DURATION, metavar="TIME", help="Limit of time, e.g. 3h [default: as in the file].")
@click.option("--agent", metavar="NAME", help="The agent for atoms without `run` [default: as configured].")
@click.option("--branch", metavar="NAME", help="Work on this branch; created if it does not exist.")
@click.option("--isolation", type=click.Choice(["worktree", "none"]), help="Where attempts are made.")
@click.option(
    "--in-place",
    "isolation",
    flag_value="none",
    default=None,
    help="Short for --isolation none: one agent at a time works in this folder itself.",
)
@click.option("--detached", is_flag=True, help="Continue though no branch is checked out.")
@click.option("--allow-dirty", is_flag=True, default=None, help="Continue in spite of uncommitted changes.")
@click.option("--serve", is_flag=True, help="Also show the run on a web page; see `aot serve`.")
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
    detached: bool,
    take_over: bool,
    serve: bool,
    **flags: Any,
) -> None:
    """Run the loop until its base case holds, or say exactly why it cannot hold.

    Commands do the atoms that have `run`; agents do the others, each in its own git worktree. Limits given here apply
    to this run only. `aot watch` shows the run in another terminal; `aot stop` and `aot redirect` interrupt it. After a
    crash, `aot run` continues.
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
        store = open_store(state_file)
        if dry_run:
            ctx.exit(code_of(show_plan(store, given, as_json=as_json, in_place=_is_in_place(store, flags))))
        wishes = {"limits": given, "branch": branch, "detached": detached, "take_over": take_over}
        with _page(as_json=as_json) if serve else nullcontext() as link:
            code = _run(store, wishes, flags, yes=yes, as_json=as_json, link=link)
        ctx.exit(code)


def _run(
    store: Store, wishes: dict[str, Any], flags: dict[str, Any], *, yes: bool, as_json: bool, link: str | None
) -> int:
    from aotloop.app.outlets.outlets import with_outlets  # noqa: PLC0415 - planning needs none of this
    from aotloop.app.run.launch import RunOptions  # noqa: PLC0415
    from aotloop.app.run.start import run_loop  # noqa: PLC0415
    from aotloop.process.allocator import return_large_blocks  # noqa: PLC0415

    return_large_blocks()
    config = load(Path(project_root(store.path)), flags=flags)
    require_config_consent(config, yes=yes)
    accepted = acceptance_of(store, require_consent(store, yes=yes))
    allowance = _allowance(store, wishes["limits"]) if not as_json else None

    def announce() -> None:
        if allowance is not None:
            tell(allowance, err=True)
            tell(fence_in_words(config), err=True)

    screen = observer_for(as_json=as_json, actions=RunActions(store.path))
    watching = with_outlets(Announced(screen, announce), config, store.path, tell_problem, server=link)
    ending = run_loop(store, config, RunOptions(**wishes, is_accepted=accepted), watching)
    if not as_json:
        _tell(ending.loop, ending.status, ending.reason, worked=ending.worked)
    if ending.signal is not None:
        return BY_SIGNAL + ending.signal
    return code_of(ending.reason)


def _allowance(store: Store, limits: dict[str, Any]) -> str | None:
    """In words; None: nothing is left to do."""
    loop = store.load()
    return allowance_in_words(loop, limits) if loop.control.status != "completed" else None


def _is_in_place(store: Store, flags: dict[str, Any]) -> bool:
    """Whether a person wants all attempts in the project's folder."""
    return load(Path(project_root(store.path)), flags=flags).isolation == "none"


def fence_in_words(config: Config) -> str:
    """One line: which engine keeps agents in, and what it does not cover."""
    words = in_force(config.fence if config.fence is not None else Policy(engine="off")).words()
    return f"{words}; agents work in the checkout itself" if config.isolation == "none" else words


@contextmanager
def _page(*, as_json: bool) -> Iterator[str]:
    """Its address, without the token. After the run the page stays for a person at a terminal, who may want to read."""
    from aotloop.cli.commands.views.serve import LOOPBACK, served, wait_for_interrupt  # noqa: PLC0415 - an extra

    with served(host=LOOPBACK) as page:
        yield page.url
        if not as_json and is_interactive():
            tell("The run has ended. The page stays until you press Ctrl-C.", err=True)
            wait_for_interrupt()


@contextmanager
def _not_ready() -> Iterator[None]:
    try:
        yield
    except StateFileError as error:
        error.exit_code = NOT_READY
        raise


def _tell(loop: Loop, status: str, reason: str | None, *, worked: bool) -> None:
    if status == "completed":
        message = "the base case holds" if worked else "the base case already holds: no work was needed"
        tell(message, head=f"{mark(True)} ")
        say_next("aot report", "aot graph", "aot log", "git log")
        return
    tell(prose(f"stopped: {reason}"), head=f"{mark(False)} ")
    say_next(*_next_steps(loop, (reason or "").partition(":")[0]), "aot report")


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
