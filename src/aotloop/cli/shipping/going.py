"""`aot ship [FEATURE]`: begins a feature or goes on with one, and says by its exit code how far it came."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from aotloop.cli.consent import require_config_consent
from aotloop.cli.foreign import prose, visible
from aotloop.cli.live import spectator
from aotloop.cli.options import AMOUNT, WORDS, json_option, yes_option
from aotloop.cli.output import mark, say_json, say_next, tell
from aotloop.cli.shipping.consent import require_tests_consent
from aotloop.cli.shipping.finding import refuse_agents
from aotloop.cli.shipping.reading import ask_about_tests, is_somebody_asked
from aotloop.cli.shipping.standing import next_steps
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import StateFileError
from aotloop.phases.beginning import Wanted
from aotloop.phases.ground import Ground
from aotloop.statefile.locate import find_phase_file, new_phase_file, project_root
from aotloop.statefile.phase_store import PhaseStore

NOT_READY, WAITS, BY_A_PERSON = 3, 6, 7
EXIT_CODES = {"stalled": 4, "exhausted": 4, "limit": 5, "blocked": WAITS, "user": BY_A_PERSON}
"""By the first word of the reason why it stopped."""

EXAMPLES = """\b
Examples:
  aot ship "Users can log in with a link that is mailed to them"
  aot ship                              go on with it, also after a crash
  aot ship --max-iterations 80          go on with more turns
  aot ship "…" --agent claude --budget-usd 15 --skip-test-review --yes
  aot ship status
\b
Exit codes:
  0 shipped    3 not ready, or the file is invalid    5 a limit was reached    7 stopped by a person
  1 an error   4 stalled or exhausted                 6 waits for a person     130 interrupted
"""

_WORDS = frozenset({"status", "approve", "receipt", "checkpoint", "advance", "stop", "cancel"})


class Going(click.Command):
    """The command without a name of its own: to whoever reads its messages, it is the one above it."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        above = parent.parent if parent is not None else None
        return super().make_context(info_name, args, parent=above, **extra)


@click.command("ship", cls=Going, epilog=EXAMPLES)
@json_option
@yes_option
@click.argument("feature", type=WORDS, required=False)
@click.option("--skip-brainstorm", is_flag=True, help="Begin with the plan.")
@click.option("--skip-test-review", is_flag=True, help="Ask no person about the acceptance tests.")
@click.option("--budget-usd", type=AMOUNT, metavar="N", help="Stop when so much is spent.")
@click.option("--enforce-budget", is_flag=True, help="Stop at the budget there is, instead of warning.")
@click.option("--max-iterations", type=click.IntRange(1), metavar="N", help="Turns of agents, in all [default: 50].")
@click.option("--max-phase-iterations", type=click.IntRange(1), metavar="N", help="In one phase [default: 10].")
@click.option("--max-fix-cycles", type=click.IntRange(0), metavar="N", help="Rounds of fixing [default: 3].")
@click.option("--completion-promise", type=WORDS, metavar="TEXT", help="What the agent says in the end [SHIPPED].")
@click.option("--agent", metavar="NAME", help="Who does it [default: as configured].")
@click.option("--branch", metavar="NAME", help="Work on this branch; it is made if there is none.")
@click.option("--no-graph", is_flag=True, help="One agent does the work, instead of a loop over the plan's steps.")
@click.option("--allow-dirty", is_flag=True, default=None, help="Go on though there are uncommitted changes.")
@click.option("--take-over", is_flag=True, help="Take the feature from the session that drives it.")
@click.pass_context
def going(
    ctx: click.Context,
    /,
    as_json: bool,
    yes: bool,
    feature: str | None,
    agent: str | None,
    branch: str | None,
    allow_dirty: bool | None,
    take_over: bool,
    **said: Any,
) -> None:
    """Take a feature from idea to shipped."""
    refuse_agents("begins a feature or goes on with one")
    if feature in _WORDS:
        raise click.UsageError(f"`aot ship {feature}` takes its options after that word")
    try:
        store = PhaseStore(new_phase_file() if feature is not None else find_phase_file())
        wishes = {"begin": _wanted(feature, said), "branch": branch, "take_over": take_over, "limits": _limits(said)}
        flags = {"agent": agent, "allow_dirty": allow_dirty}
        ctx.exit(_ship(store, wishes, flags, yes=yes, as_json=as_json))
    except StateFileError as error:
        error.exit_code = NOT_READY
        raise


def _wanted(feature: str | None, said: dict[str, Any]) -> Wanted | None:
    """None: it is gone on with. What is only said at the beginning is refused then, rather than forgotten."""
    if feature is None:
        late = [
            name for name in ("skip_brainstorm", "skip_test_review", "completion_promise", "no_graph") if said[name]
        ]
        if late:
            raise click.UsageError(f"--{late[0].replace('_', '-')} is said when a feature begins, with FEATURE")
        return None
    budget = said["budget_usd"]
    return Wanted(
        feature=feature,
        skip_brainstorm=said["skip_brainstorm"],
        skip_test_review=said["skip_test_review"],
        budget_limit_usd=budget,
        enforce_budget=said["enforce_budget"] or budget is not None,
        max_iterations=said["max_iterations"],
        max_phase_iterations=said["max_phase_iterations"],
        max_fix_cycles=said["max_fix_cycles"],
        completion_promise=said["completion_promise"],
        no_graph=said["no_graph"],
    )


def _limits(said: dict[str, Any]) -> dict[str, Any]:
    """For a feature that is gone on with."""
    given = {
        "max_iterations": said["max_iterations"],
        "max_phase_iterations": said["max_phase_iterations"],
        "max_fix_cycles": said["max_fix_cycles"],
        "budget_limit_usd": said["budget_usd"],
        "enforce_budget": True if said["enforce_budget"] or said["budget_usd"] is not None else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _ship(store: PhaseStore, wishes: dict[str, Any], flags: dict[str, Any], *, yes: bool, as_json: bool) -> int:
    from aotloop.config import load  # noqa: PLC0415 - the commands about a feature need none of this
    from aotloop.shipping import Wishes, ship  # noqa: PLC0415

    config = load(Path(project_root(store.path)), flags=flags)
    require_config_consent(config, yes=yes)
    require_tests_consent(store.path, config.ship, yes=yes)
    ground, watched = Ground(store, config.ship), partial(spectator, as_json=as_json)
    wanted = Wishes(**wishes)
    ending = ship(store, config, wanted, watched)
    while ending.signal is None and ending.status == "waiting" and is_somebody_asked(as_json=as_json):
        if not ask_about_tests(ground, ending.loop):
            break
        ending = ship(store, config, Wishes(limits=wanted.limits if wanted.begin is None else {}), watched)
    code = 128 + ending.signal if ending.signal is not None else code_of(ending.loop)
    _tell(ending.loop, code, as_json=as_json)
    return code


def code_of(loop: PhaseLoop) -> int:
    if loop.status == "completed":
        return 0
    if loop.status == "waiting":
        return WAITS
    if loop.status == "stopped":
        return EXIT_CODES.get((loop.stop_reason or "").partition(":")[0], 1)
    return BY_A_PERSON  # cancelled, or taken by a session


def _tell(loop: PhaseLoop, code: int, *, as_json: bool) -> None:
    steps = next_steps(loop)
    if as_json:
        data = {
            "status": loop.status,
            "phase": loop.phase,
            "stop_reason": loop.stop_reason,
            "spent_usd": loop.spent_usd,
        }
        say_json({"kind": "result", "success": code == 0, **data, "next": steps}, indent=0)
        return
    if loop.status == "completed":
        tell("shipped: every receipt holds, and the acceptance tests pass", head=f"{mark(True)} ")
    elif loop.status == "waiting":
        tell(
            prose(f"read the acceptance tests, {visible(loop.artifacts.acceptance_tests_file or '')}"),
            head=f"{mark(None)} ",
        )
        tell("They decide whether the feature works; nobody may change them afterwards.")
    elif loop.status == "running":
        tell(prose(f"the session {loop.session_id} drives it now"), head=f"{mark(None)} ")
    else:
        tell(prose(f"{loop.status} in {loop.phase}: {loop.stop_reason}"), head=f"{mark(False)} ")
    say_next(*steps)
