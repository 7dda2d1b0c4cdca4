"""PreToolUse: read-only agents do not write, only scripts change the loop's file, and protected files stay.

This hook only forbids: its answer is nothing, or a denial. The effect of a shell command is unknown before it runs, so
only commands that plainly write to the loop's file are denied.
"""

from __future__ import annotations

from aotloop.core.model import Loop
from aotloop.hooks.answers import Answer, Deny
from aotloop.hooks.coordinator import is_driven_by
from aotloop.hooks.payload import ONLY_LOOKING, Payload
from aotloop.hooks.write_targets import Target, writes_to
from aotloop.text.shorten import short_line

PATH_KEYS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
PATCH = "apply_patch"
"""The tool of Codex: the patch is its `command`."""
SHELL = "Bash"
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")

SCRIPTS = (
    "Scripts change it: update_atom.py, integrate.py, add_binding.py, fail_atom.py, add_atom.py, decompose_atom.py,"
    " switch_or_branch.py, set_status.py; a person's changes: apply_correction.py."
)


def paths_written(payload: Payload) -> list[str]:
    """The paths as the tool names them; empty for a tool that writes no named files."""
    if payload.tool_name == PATCH:
        patch = str(payload.tool_input.get("command", ""))
        starts = [(text, start) for text in patch.splitlines() for start in _PATCHED if text.startswith(start)]
        return [text[len(start) :].strip() for text, start in starts]
    key = PATH_KEYS.get(payload.tool_name)
    path = payload.tool_input.get(key) if key is not None else None
    return [path] if isinstance(path, str) and path else []


def decide(payload: Payload, loop: Loop | None, targets: list[Target], state_file_name: str = "") -> Answer:
    """`loop` None: there is none, or it cannot be read."""
    is_writing = payload.tool_name in PATH_KEYS or payload.tool_name == PATCH
    if is_writing and payload.agent_type in ONLY_LOOKING:
        role = payload.agent_type.partition(":")[2]
        return Deny(reason=f"A {role} only looks: it writes nothing. Say what you found in your answer.")
    if loop is None or not is_driven_by(payload, loop):
        return Answer()
    if any(target.is_state_file for target in targets):
        return _by_scripts()
    if payload.tool_name == SHELL and writes_to(str(payload.tool_input.get("command", "")), state_file_name):
        return _by_scripts()
    return _protect(loop, targets)


def _by_scripts() -> Answer:
    return Deny(reason=f"The loop runs, and its file is not edited by hand. {SCRIPTS}")


def _protect(loop: Loop, targets: list[Target]) -> Answer:
    if not targets or not loop.objective.protect:
        return Answer()
    from aotloop.text.patterns import matching  # noqa: PLC0415 - not needed for most calls

    if kept := matching([path for target in targets for path in target.inside], loop.objective.protect):
        reason = f"{short_line(kept[0])} is protected by the objective: it does not change while the loop runs."
        return Deny(reason=f"{reason} If it has to change, say so in your answer; a person decides.")
    return Answer()
