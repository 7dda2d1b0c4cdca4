"""Decisions about a phase loop that only a person can make. A script knows of one because a hook saw it typed.

An agent calls the scripts, so that a script was called says nothing. Commands are run for it on the same terms: this
user has accepted them, or began the loop in a prompt, which is to want its acceptance tests run in the usual way.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from aotloop.app.slash_commands import to_ship
from aotloop.core.phases.model import PhaseLoop, ShipSettings
from aotloop.core.phases.receipts import receipt_of
from aotloop.errors import NotTrusted
from aotloop.foreign_tree import begin_beneath
from aotloop.statefile.locate import project_root
from aotloop.trust import human_approvals
from aotloop.trust.accepted_commands import digest_of, is_trusted, trust

_MOST_READ = 4_000_000


def word_for(kind: human_approvals.Kind, session: str, phase_file: str) -> human_approvals.Word | None:
    """The person typed it in this session, in the loop's folder or below it."""
    word = human_approvals.approval_of(kind, session)
    return word if word is not None and _is_in(word.folder, project_root(phase_file)) else None


def require_word(kind: human_approvals.Kind, session: str, phase_file: str, loop: PhaseLoop) -> human_approvals.Word:
    word = word_for(kind, session, phase_file)
    if word is None:
        raise NotTrusted(
            f"only the person can say that ({kind}), and has not said it in this session",
            hint=f"The person types {to_ship(_AS_TYPED.get(kind, kind))} here, or uses `aot ship` in a terminal.",
        )
    if word.about != subject_of(kind, phase_file, loop):
        raise NotTrusted(
            "what the person spoke about has changed since",
            hint=f"Show it again; the person types {to_ship(kind)} once more.",
        )
    return word


_AS_TYPED = {"refuse": "refuse WHY", "advance": "advance WHY", "begin": "FEATURE"}


def subject_of(kind: human_approvals.Kind, phase_file: str, loop: PhaseLoop) -> str:
    """The subject of a decision of this kind, now: a decision about one stop does not count for the next."""
    match kind:
        case "approve":
            return shown_tests(phase_file, loop)
        case "refuse":
            receipt = receipt_of(loop, "spec_test")
            return receipt.git_sha if receipt is not None else ""
        case "advance":
            return f"{loop.phase} since {loop.phase_started_at}"
        case "resume":
            return f"{loop.phase}, {loop.status} after {loop.global_iteration}: {loop.stop_reason}"
        case _:
            return ""


def shown_tests(phase_file: str, loop: PhaseLoop) -> str:
    """The digest of what a person is asked to approve: the tests of the receipt, as they are now."""
    receipt = receipt_of(loop, "spec_test")
    if receipt is None:
        return ""
    digest = sha256(f"{receipt.artifact}\0{receipt.git_sha}\0".encode("utf-8", "replace"))
    content = begin_beneath(Path(project_root(phase_file)), receipt.artifact, _MOST_READ)
    if content is None:
        return ""
    digest.update(content)
    return digest.hexdigest()[:16]


# --- commands ----------------------------------------------------------------------------------------------------


def began_in_a_prompt(phase_file: str, loop: PhaseLoop) -> None:
    """From now on the acceptance tests of this loop run with the usual command for their kind."""
    trust(phase_file, [_usual(loop)])


def require_consent(
    phase_file: str, loop: PhaseLoop, settings: ShipSettings, session: str | None, commands: list[str]
) -> None:
    """A command from the project's own settings is never a usual one: the person must accept its exact words."""
    if is_trusted(phase_file, commands):
        return
    if settings.test_command is None and is_trusted(phase_file, [_usual(loop)]):
        return
    digest = digest_of(phase_file, commands)
    word = word_for("accept", session, phase_file) if session is not None else None
    if word is not None and word.about == digest:
        trust(phase_file, commands)
        human_approvals.take(word)
        return
    raise NotTrusted(
        "the person has not accepted the command that runs the acceptance tests, so it was not run",
        commands,
        hint=f"Show it to the person, who accepts it by typing {to_ship(f'accept {digest}')} here.",
    )


def _usual(loop: PhaseLoop) -> str:
    return f"(the acceptance tests of the loop of {loop.started_at}, in the usual way for their kind)"


def _is_in(folder: str, root: str) -> bool:
    if not Path(folder).is_absolute():
        return False
    folder, root = os.path.realpath(folder), os.path.realpath(root)
    return folder == root or folder.startswith(root.rstrip("/") + "/")
