"""The text of a new state file: every key of the schema, each with a word on what it is for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aotloop.statefile.emit import text

_LEGACY = """\
  # When is it done? One check: command (exit code 0), file (exists) or assertion (judged, then confirmed).
  base_case:
    type: command
    value: {command}
"""

_CHECKLIST = """\
  # When is it done? Every item has to hold. Types: command, not_command, file, not_file, assertion, quality.
  # `group:` instead of `check:` holds items that must all pass, `any_of:` items of which one must.
  base_case:
    checklist:
{items}"""

_ITEM = """\
      - item: {name}
        check:
          type: command
          value: {command}
"""

_FILE = """\
---
objective:
  # What is to be achieved, in one sentence.
  goal: {goal}
{base_case}
  # Why it is wanted; what should be there in the end; how a person would tell that it is done.
  background_intent: {background_intent}
  deliverables: {deliverables}
  definition_of_done: {definition_of_done}
  # `effort: low` or `effort: high` tries less or more often; `max_cost_usd: 20` ends it before that is spent.
  constraints:
    max_parallel_agents: 3

# Kept by aot; leave it alone.
control:
  status: pending               # pending | running | stopped | completed
  iteration: 0
  stall_count: 0
  prev_pending_count: -1
  stop_requested: false
  stop_reason: null
  redirect_requested: false

# The work. Atoms wait for those they depend on; the others run in parallel.
# `run: "command"` lets a command do an atom; `or_group: name` makes it one of several alternatives;
# `covers: ["item"]` names what of the base case an atom makes true, and so decides whether it is done.
atoms:
  - id: A1
    description: {first}
    status: pending             # pending | in_progress | resolved
    depends_on: []
{run}
decompositions: []
or_groups: {{}}
bindings: {{}}
trail: []
corrections: []
---

# Original Prompt

{request}
"""


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be agreed on before a loop may start, besides the goal."""

    background_intent: str = ""
    deliverables: str = ""
    definition_of_done: str = ""


def starting_file(
    goal: str,
    commands: Sequence[str],
    *,
    legacy: bool,
    request: str,
    alignment: Alignment = Alignment(),  # noqa: B008 - it is frozen
    run: str | None = None,
) -> bytes:
    """`run`: a command that does the first atom."""
    chosen = list(commands) or ["false  # replace this by a command that succeeds when it is done"]
    if legacy:
        base_case = _LEGACY.format(command=quoted(chosen[0]))
    else:
        items = [_ITEM.format(name=quoted(_name(command)), command=quoted(command)) for command in chosen]
        base_case = _CHECKLIST.format(items="".join(items))
    return _FILE.format(
        goal=quoted(goal),
        base_case=base_case.rstrip("\n"),
        first=quoted(goal or "First step"),
        run=f"    run: {quoted(run)}\n" if run is not None else "",
        **{name: quoted(getattr(alignment, name)) for name in Alignment.__struct_fields__},
        request=request.strip() or "(what you were asked for, in the words of who asked)",
    ).encode()


def _name(command: str) -> str:
    return "Done" if command.startswith("false ") else f"`{command}` succeeds"


def quoted(value: str) -> str:
    """Always in quotes, so that who edits the file can type anything between them."""
    written = text(value)
    return written if written.startswith('"') else f'"{written}"'
