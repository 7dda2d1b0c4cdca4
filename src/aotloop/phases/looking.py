"""What can be found out about a receipt: in git, in the project's files, by running tests. Nothing is believed.

An artifact counts as it is in the commit of the receipt *and* as it lies in the checkout: what is only one of both is
not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlsplit

from msgspec.structs import replace

from aotloop.core.phases.facts import Facts
from aotloop.core.phases.model import Phase, PhaseLoop, Receipt
from aotloop.core.phases.receipts import COUNTED, GREEN, GREEN_TO_THE_END, NEWER, PLAN, PUBLISHED, RECEIPTS, RED
from aotloop.phases.comparing import are_tests_untouched
from aotloop.phases.ground import Ground
from aotloop.phases.testing import TestRun
from aotloop.workspace.repository import is_at_or_in

LARGEST = 4_000_000
"""Bytes of an artifact that are looked at."""

_OTHERS = "what was run are not the tests of the commit; commit them, as files, with all that lies beside them"

_MOST_VERSIONS = 100


def needs_tests(phase: Phase) -> bool:
    return any(proof in RECEIPTS[phase].proofs for proof in (RED, GREEN, GREEN_TO_THE_END))


def look(ground: Ground, loop: PhaseLoop, receipt: Receipt, run: TestRun | None) -> Facts:
    """At all that this receipt has to prove. `run`: the acceptance tests, if they were run now."""
    if not _is_readable(receipt):
        return Facts()  # what is wrong with it is seen without looking anywhere
    proofs = RECEIPTS[receipt.phase].proofs
    commit = ground.commit(receipt.git_sha)
    text = _artifact(ground, receipt.artifact, commit)
    is_first = receipt.phase == "spec_test"
    untouched = are_tests_untouched(ground, loop, receipt if is_first else None)
    if run is not None and is_first and not untouched:
        run = replace(run, passed=None, evidence=_OTHERS)
    return Facts(
        artifact_exists=text is not None,
        artifact_has_content=bool(text and text.strip()),
        commit_known=commit is not None and _contains(ground, commit),
        commit_is_newer=commit is not None and _is_newer(ground, loop, receipt.phase, commit)
        if NEWER in proofs
        else None,
        plan_names_files_and_steps=_is_plan(text or "") if PLAN in proofs else None,
        tests_pass=run.passed if run is not None else None,
        tests_said=run.evidence if run is not None else "",
        tests_untouched=untouched,
        open_findings=_open(ground, loop, receipt, text or "") if COUNTED in proofs else None,
        has_branch_or_pull_request=_is_published(ground, loop, commit) if PUBLISHED in proofs else None,
    )


def look_again(ground: Ground, loop: PhaseLoop, run: TestRun | None) -> Mapping[Phase, Facts]:
    """At every receipt on file, as things are now."""
    return {receipt.phase: look(ground, loop, receipt, run) for receipt in loop.receipts}


def _is_readable(receipt: Receipt) -> bool:
    """Text that git or the file system could not be asked about."""
    return receipt.git_sha.isalnum() and "\0" not in receipt.artifact and "\n" not in receipt.artifact


# --- the artifact ------------------------------------------------------------------------------------------------


def _artifact(ground: Ground, path: str, commit: str | None) -> str | None:
    """What it says; None if it is not there, in one of the two places."""
    if commit is None or _blob(ground, commit, path) is None:
        return None
    root, file = ground.root.resolve(), (ground.root / path).resolve()
    if not is_at_or_in(str(file), str(root)) or not file.is_file():
        return None
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return None


def _blob(ground: Ground, commit: str, path: str) -> bytes | None:
    name = f"{commit}:{ground.in_repository(path)}"
    done = ground.repository.git("cat-file", "blob", name, accept=())
    return done.out[:LARGEST] if done.code == 0 else None


# --- the commit --------------------------------------------------------------------------------------------------


def _contains(ground: Ground, commit: str, ref: str = "HEAD") -> bool:
    return ground.repository.git("merge-base", "--is-ancestor", commit, ref, accept=()).code == 0


def _is_newer(ground: Ground, loop: PhaseLoop, phase: Phase, commit: str) -> bool:
    """By its time, which has whole seconds; and it is not part of what another phase was proven with."""
    since = loop.phase_started_at or loop.started_at
    made = ground.repository.git("log", "-1", "--format=%ct", commit).text
    if not made.isdecimal() or int(made) < _seconds(since):
        return False
    others = {ground.commit(one.git_sha) for one in loop.receipts if one.phase != phase}
    return not any(other is not None and _contains(ground, commit, other) for other in others)


def _seconds(at: str) -> int:
    """0 for what is no time: then nothing is older. Others may have written it with a zone."""
    try:
        read = datetime.fromisoformat(at)
        return int((read if read.tzinfo is not None else read.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return 0


# --- what a phase demands besides --------------------------------------------------------------------------------


def _is_plan(text: str) -> bool:
    from aotloop.phases.documents import names_files_and_steps  # noqa: PLC0415 - hooks do without Markdown

    return names_files_and_steps(text)


def _open(ground: Ground, loop: PhaseLoop, receipt: Receipt, text: str) -> int | None:
    """Findings may be resolved or accepted; since the review was filed they may not vanish, in no number of rounds."""
    from aotloop.phases.documents import open_findings  # noqa: PLC0415

    earlier = [one for one in loop.receipts if one.phase in ("review", "re_review")]
    filed = {(one.git_sha, one.artifact): None for one in earlier}
    places = {one.artifact: None for one in (*earlier, receipt)}
    filed |= {(commit, place): None for one in earlier for place in places for commit in _since(ground, one, place)}
    versions = (_blob(ground, commit, place) for commit, place in filed if commit != receipt.git_sha)
    found = open_findings(text, [(one or b"").decode("utf-8", "replace") for one in versions])
    return len(found) if found is not None else None


def _since(ground: Ground, receipt: Receipt, path: str) -> tuple[str, ...]:
    """Commits after that of the receipt which changed the file."""
    places = ("--", f":(literal){ground.in_repository(path)}")
    words = ("log", f"--max-count={_MOST_VERSIONS}", "--format=%H", f"{receipt.git_sha}..HEAD", *places)
    done = ground.repository.git(*words, accept=())
    return tuple(done.text.split()) if done.code == 0 else ()


def _is_published(ground: Ground, loop: PhaseLoop, commit: str | None) -> bool:
    if _is_address(loop.artifacts.pr_url or ""):
        return True
    branch = loop.artifacts.branch
    if branch is None or commit is None:
        return False
    tip = _commit_of_branch(ground, branch)
    return tip is not None and _contains(ground, commit, tip)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and bool(parts.path.strip("/"))
    except ValueError:  # a bracket that is not closed
        return False


def _commit_of_branch(ground: Ground, branch: str) -> str | None:
    if branch.startswith("-") or not branch.isprintable():
        return None
    done = ground.repository.git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}", accept=())
    return done.text if done.code == 0 else None
