"""`aot ship [FEATURE]`: it begins or continues a feature, and the exit code says how it ended."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from aotloop import exit_codes
from aotloop.app.ship.feature_access import refuse_agents
from aotloop.app.ship.feature_start import FeatureOptions
from aotloop.app.ship.status import next_steps
from aotloop.cli.live.observers import observer_for
from aotloop.cli.ship.acceptance_tests import ask_about_tests, can_ask, require_tests_consent
from aotloop.cli.ui.consent_dialog import require_config_consent
from aotloop.cli.ui.options import AMOUNT, WORDS, json_option, yes_option
from aotloop.cli.ui.output import mark, say_json, say_next, tell, tell_problem
from aotloop.core.phases.gaps import gaps_of, proof_in_words
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import StateFileError
from aotloop.execution.observer import Observer
from aotloop.phases.project import Project
from aotloop.statefile.locate import find_phase_file, new_phase_file, project_root
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.text.sanitize import prose, visible

EXAMPLES = f"""\b
Examples:
  aot ship "Users can log in with a link that is mailed to them"
  aot ship                              continue it, also after a crash
  aot ship --max-iterations 80          continue with more turns
  aot ship "…" --agent claude --budget-usd 15 --skip-test-review --yes
  aot ship status
{exit_codes.help_table("shipped", {exit_codes.WITH_GAPS: "shipped, with gaps"})}
"""

_MOST_WORDS, _LONGEST_NAME = 6, 40
_WORDS = frozenset({"status", "approve", "receipt", "checkpoint", "advance", "stop", "cancel"})


class FeatureCommand(click.Command):
    """This command has no name of its own: its messages name `aot ship`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        above = parent.parent if parent is not None else None
        return super().make_context(info_name, args, parent=above, **extra)


@click.command("ship", cls=FeatureCommand, epilog=EXAMPLES)
@json_option
@yes_option
@click.argument("feature", type=WORDS, required=False)
@click.option("--skip-brainstorm", is_flag=True, help="Begin with the plan.")
@click.option("--skip-test-review", is_flag=True, help="Do not ask a person about the acceptance tests.")
@click.option("--budget-usd", type=AMOUNT, metavar="N", help="Stop when this amount is spent.")
@click.option("--enforce-budget", is_flag=True, help="Stop at the present budget, instead of a warning.")
@click.option("--max-iterations", type=click.IntRange(1), metavar="N", help="Limit of agents' turns [default: 50].")
@click.option(
    "--max-phase-iterations", type=click.IntRange(1), metavar="N", help="Limit of turns in a phase [default: 10]."
)
@click.option("--max-fix-cycles", type=click.IntRange(0), metavar="N", help="Limit of fix rounds [default: 3].")
@click.option("--completion-promise", type=WORDS, metavar="TEXT", help="What the agent says at the end [SHIPPED].")
@click.option("--agent", metavar="NAME", help="The agent [default: as configured].")
@click.option("--branch", metavar="NAME", help="Work on this branch [default: a new one, ship/…].")
@click.option("--here", is_flag=True, help="Work on the branch that is checked out, instead of a new one.")
@click.option("--no-graph", is_flag=True, help="Let one agent do all the work, without a loop over the plan's steps.")
@click.option("--allow-dirty", is_flag=True, default=None, help="Continue in spite of uncommitted changes.")
@click.option("--take-over", is_flag=True, help="Take the feature from the session that drives it.")
@click.pass_context
def feature_command(
    ctx: click.Context,
    /,
    as_json: bool,
    yes: bool,
    feature: str | None,
    agent: str | None,
    branch: str | None,
    here: bool,
    allow_dirty: bool | None,
    take_over: bool,
    **options: Any,
) -> None:
    """Take a feature from idea to shipped."""
    refuse_agents("begins or continues a feature")
    if feature in _WORDS:
        raise click.UsageError(f"`aot ship {feature}` expects its options after the subcommand")
    try:
        store = PhaseStore(new_phase_file() if feature is not None else find_phase_file())
        if here and branch is not None:
            raise click.UsageError("--here and --branch exclude each other")
        if feature is not None and not here:
            branch = branch or branch_for(feature)
        wishes = {
            "begin": _wanted(feature, options),
            "branch": branch,
            "take_over": take_over,
            "limits": _limits(options),
        }
        flags = {"agent": agent, "allow_dirty": allow_dirty}
        ctx.exit(_ship(store, wishes, flags, yes=yes, as_json=as_json))
    except StateFileError as error:
        error.exit_code = exit_codes.NOT_READY
        raise


def branch_for(feature: str) -> str:
    """A name that a person would give: a few words of the feature."""
    words = re.findall(r"[a-z0-9]+", feature.lower())[:_MOST_WORDS]
    return f"ship/{'-'.join(words)[:_LONGEST_NAME].strip('-') or 'feature'}"


def _wanted(feature: str | None, options: dict[str, Any]) -> FeatureOptions | None:
    """None: a feature continues. Options that apply only at the beginning are then refused, not ignored."""
    if feature is None:
        late = [
            name for name in ("skip_brainstorm", "skip_test_review", "completion_promise", "no_graph") if options[name]
        ]
        if late:
            raise click.UsageError(f"--{late[0].replace('_', '-')} applies only at the beginning, with FEATURE")
        return None
    budget = options["budget_usd"]
    return FeatureOptions(
        feature=feature,
        skip_brainstorm=options["skip_brainstorm"],
        skip_test_review=options["skip_test_review"],
        budget_limit_usd=budget,
        enforce_budget=options["enforce_budget"] or budget is not None,
        max_iterations=options["max_iterations"],
        max_phase_iterations=options["max_phase_iterations"],
        max_fix_cycles=options["max_fix_cycles"],
        completion_promise=options["completion_promise"],
        no_graph=options["no_graph"],
    )


def _limits(options: dict[str, Any]) -> dict[str, Any]:
    """Limits for a feature that continues."""
    given = {
        "max_iterations": options["max_iterations"],
        "max_phase_iterations": options["max_phase_iterations"],
        "max_fix_cycles": options["max_fix_cycles"],
        "budget_limit_usd": options["budget_usd"],
        "enforce_budget": True if options["enforce_budget"] or options["budget_usd"] is not None else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _ship(store: PhaseStore, wishes: dict[str, Any], flags: dict[str, Any], *, yes: bool, as_json: bool) -> int:
    from aotloop.app.outlets.outlets import with_outlets  # noqa: PLC0415
    from aotloop.app.ship.preconditions import refuse_without_agent  # noqa: PLC0415
    from aotloop.app.ship.run import ShipOptions, ship  # noqa: PLC0415
    from aotloop.config.sources import load  # noqa: PLC0415 - the commands about a feature need none of this

    config = load(Path(project_root(store.path)), flags=flags)
    require_config_consent(config, yes=yes)
    refuse_without_agent(config)  # before a question whose answer would be for nothing
    require_tests_consent(store.path, config.ship, yes=yes)
    project = Project(store, config.ship, fence=config.fence)

    def watched() -> Observer:
        return with_outlets(observer_for(as_json=as_json), config, store.path, tell_problem, kind="feature")

    wanted = ShipOptions(**wishes)
    ending = ship(store, config, wanted, watched)
    while ending.signal is None and ending.status == "waiting" and can_ask(as_json=as_json):
        if not ask_about_tests(project, ending.loop):
            break
        ending = ship(store, config, ShipOptions(limits=wanted.limits if wanted.begin is None else {}), watched)
    code = exit_codes.BY_SIGNAL + ending.signal if ending.signal is not None else code_of(ending.loop)
    _tell(ending.loop, as_json=as_json)
    return code


def code_of(loop: PhaseLoop) -> int:
    if loop.status == "completed":
        return exit_codes.DONE if gaps_of(loop).is_none else exit_codes.WITH_GAPS
    if loop.status == "waiting":
        return exit_codes.PERSON_NEEDED
    if loop.status == "stopped":
        return exit_codes.code_of(loop.stop_reason or "")
    return exit_codes.STOPPED  # cancelled, or taken by a session


def _tell(loop: PhaseLoop, *, as_json: bool) -> None:
    steps, gaps = next_steps(loop), gaps_of(loop)
    if as_json:
        data = {
            "status": loop.status,
            "phase": loop.phase,
            "stop_reason": loop.stop_reason,
            "spent_usd": loop.spent_usd,
            "forced": list(gaps.forced),
            "skipped": list(gaps.skipped),
        }
        say_json({"kind": "result", "success": loop.status == "completed", **data, "next": steps}, indent=0)
        return
    if loop.status == "completed":
        tell(f"shipped: {proof_in_words(gaps.forced, gaps.skipped)}", head=f"{mark(True if gaps.is_none else None)} ")
    elif loop.status == "waiting":
        tell(
            prose(f"read the acceptance tests, {visible(loop.artifacts.acceptance_tests_file or '')}"),
            head=f"{mark(None)} ",
        )
        tell("They decide whether the feature works; after approval they must not be changed.")
    elif loop.status == "running":
        tell(prose(f"the session {loop.session_id} drives it now"), head=f"{mark(None)} ")
    else:
        tell(prose(f"{loop.status} in {loop.phase}: {loop.stop_reason}"), head=f"{mark(False)} ")
    say_next(*steps)
