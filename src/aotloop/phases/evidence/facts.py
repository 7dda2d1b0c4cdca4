"""Facts about a receipt, from git, from the project's files, and from tests. No claim is believed.

An artifact counts only if it is in the commit of the receipt *and* in the checkout.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from aotloop.clock import unix_time_of
from aotloop.core.phases.events import Facts
from aotloop.core.phases.model import Phase, PhaseLoop, Receipt
from aotloop.core.phases.receipts import COUNTED, GREEN, GREEN_TO_THE_END, NEWER, PLAN, PUBLISHED, RECEIPTS, RED
from aotloop.foreign_tree import begin_beneath
from aotloop.git.commits.objects import contains
from aotloop.phases.evidence.integrity import are_tests_untouched
from aotloop.phases.evidence.test_command import TestRun
from aotloop.phases.project import Project

LARGEST = 4_000_000
"""The most bytes of an artifact that are read."""

_OTHERS = "what was run are not the tests of the commit; commit them, as files, with all that lies beside them"

_MOST_VERSIONS = 100


def needs_tests(phase: Phase) -> bool:
    return any(proof in RECEIPTS[phase].proofs for proof in (RED, GREEN, GREEN_TO_THE_END))


def look(project: Project, loop: PhaseLoop, receipt: Receipt, run: TestRun | None) -> Facts:
    """All facts that this receipt has to prove. `run`: the acceptance tests, if they ran now."""
    if not _is_readable(receipt):
        return Facts()  # its mistake is visible without reading files
    proofs = RECEIPTS[receipt.phase].proofs
    commit = project.commit(receipt.git_sha)
    text = _artifact(project, receipt.artifact, commit)
    is_first = receipt.phase == "spec_test"
    untouched = are_tests_untouched(project, loop, receipt if is_first else None)
    if run is not None and is_first and not untouched:
        run = replace(run, passed=None, evidence=_OTHERS)
    return Facts(
        artifact_exists=text is not None,
        artifact_has_content=bool(text and text.strip()),
        commit_known=commit is not None and contains(project.repository, commit),
        commit_is_newer=commit is not None and _is_newer(project, loop, receipt.phase, commit)
        if NEWER in proofs
        else None,
        plan_names_files_and_steps=_is_plan(text or "") if PLAN in proofs else None,
        tests_pass=run.passed if run is not None else None,
        tests_said=run.evidence if run is not None else "",
        tests_untouched=untouched,
        open_findings=_open(project, loop, receipt, text or "") if COUNTED in proofs else None,
        has_branch_or_pull_request=_is_published(project, loop, commit) if PUBLISHED in proofs else None,
    )


def look_again(project: Project, loop: PhaseLoop, run: TestRun | None) -> Mapping[Phase, Facts]:
    """Facts about every receipt on file, as they are now."""
    return {receipt.phase: look(project, loop, receipt, run) for receipt in loop.receipts}


def _is_readable(receipt: Receipt) -> bool:
    """Whether git and the file system can be asked about this text."""
    return receipt.git_sha.isalnum() and "\0" not in receipt.artifact and "\n" not in receipt.artifact


# --- the artifact ------------------------------------------------------------------------------------------------


def _artifact(project: Project, path: str, commit: str | None) -> str | None:
    """Its text; None if it is missing in one of the two places."""
    if commit is None or _blob(project, commit, path) is None:
        return None
    content = begin_beneath(project.root, path, LARGEST)
    return content.decode("utf-8", "replace") if content is not None else None


def _blob(project: Project, commit: str, path: str) -> bytes | None:
    name = f"{commit}:{project.in_repository(path)}"
    done = project.repository.git("cat-file", "blob", name, accept=())
    return done.out[:LARGEST] if done.code == 0 else None


# --- the commit --------------------------------------------------------------------------------------------------


def _is_newer(project: Project, loop: PhaseLoop, phase: Phase, commit: str) -> bool:
    """Its time, in whole seconds, is later; and it is not part of another phase's proof.

    No commit is older than a beginning without a time.
    """
    since = loop.phase_started_at or loop.started_at
    made = project.repository.git("log", "-1", "--format=%ct", commit).text
    if not made.isdecimal() or int(made) < int(unix_time_of(since) or 0):
        return False
    others = {project.commit(receipt.git_sha) for receipt in loop.receipts if receipt.phase != phase}
    return not any(other is not None and contains(project.repository, commit, other) for other in others)


# --- further demands of a phase --------------------------------------------------------------------------------


def _is_plan(text: str) -> bool:
    from aotloop.phases.evidence.documents import names_files_and_steps  # noqa: PLC0415 - hooks do without Markdown

    return names_files_and_steps(text)


def _open(project: Project, loop: PhaseLoop, receipt: Receipt, text: str) -> int | None:
    """Findings may be resolved or accepted; after the review was filed they may not vanish, in any number of rounds."""
    from aotloop.phases.evidence.documents import open_findings  # noqa: PLC0415

    earlier = [other for other in loop.receipts if other.phase in ("review", "re_review")]
    filed = {(other.git_sha, other.artifact): None for other in earlier}
    places = {other.artifact: None for other in (*earlier, receipt)}
    filed |= {
        (commit, place): None for other in earlier for place in places for commit in _since(project, other, place)
    }
    versions = (_blob(project, commit, place) for commit, place in filed if commit != receipt.git_sha)
    found = open_findings(text, [(version or b"").decode("utf-8", "replace") for version in versions])
    return len(found) if found is not None else None


def _since(project: Project, receipt: Receipt, path: str) -> tuple[str, ...]:
    """Commits after that of the receipt which changed the file."""
    places = ("--", f":(literal){project.in_repository(path)}")
    words = ("log", f"--max-count={_MOST_VERSIONS}", "--format=%H", f"{receipt.git_sha}..HEAD", *places)
    done = project.repository.git(*words, accept=())
    return tuple(done.text.split()) if done.code == 0 else ()


def _is_published(project: Project, loop: PhaseLoop, commit: str | None) -> bool:
    if _is_address(loop.artifacts.pr_url or ""):
        return True
    branch = loop.artifacts.branch
    if branch is None or commit is None:
        return False
    tip = _commit_of_branch(project, branch)
    return tip is not None and contains(project.repository, commit, tip)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and bool(parts.path.strip("/"))
    except ValueError:  # a bracket that is not closed
        return False


def _commit_of_branch(project: Project, branch: str) -> str | None:
    if branch.startswith("-") or not branch.isprintable():
        return None
    done = project.repository.git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}", accept=())
    return done.text if done.code == 0 else None
