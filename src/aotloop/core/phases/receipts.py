"""Receipts: the table of artifacts and proofs that each phase owes. A phase is left only with a receipt that verifies.

Proofs are checked when the phase is left. *Lasting* proofs are checked again for every receipt when the loop is
completed. A fact that was not established proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from aotloop.core.phases.events import Facts
from aotloop.core.phases.model import Phase, PhaseLoop, Receipt

LONGEST_PATH = 1024
LONGEST_SHOWN = 200

_SHA = re.compile(r"[0-9a-f]{7,64}")


class Proof(msgspec.Struct, frozen=True):
    """`says`: the condition. `otherwise`: the message to the agent if the condition is not met."""

    says: str
    holds: Callable[[Facts], bool]
    otherwise: str
    lasting: bool = False


ARTIFACT = Proof(
    "the artifact exists and is not empty",
    lambda facts: facts.artifact_exists is True and facts.artifact_has_content is True,
    "the artifact {artifact} does not exist in the project, or is empty",
    lasting=True,
)
COMMIT = Proof(
    "the commit is part of what is checked out",
    lambda facts: facts.commit_known is True,
    "the commit {git_sha} is not part of what is checked out; commit the work and file its sha",
    lasting=True,
)
NEWER = Proof(
    "the commit is newer than the beginning of the phase",
    lambda facts: facts.commit_is_newer is True,
    "the commit {git_sha} is older than this phase; commit what this phase produced",
)
PLAN = Proof(
    "the plan names files and steps",
    lambda facts: facts.plan_names_files_and_steps is True,
    "the plan names no files or no steps; a plan says what is done where",
)
RED = Proof(
    "the acceptance tests run, and fail",
    lambda facts: facts.tests_pass is False,
    "before any work is done the acceptance tests have to run and fail: {tests_said}",
)
GREEN = Proof(
    "the acceptance tests pass",
    lambda facts: facts.tests_pass is True,
    "the acceptance tests do not pass: {tests_said}",
)
GREEN_TO_THE_END = msgspec.structs.replace(GREEN, lasting=True)
UNTOUCHED = Proof(
    "the acceptance tests are as they were agreed on",
    lambda facts: facts.tests_untouched is True,
    "the acceptance tests were changed since spec_test; put them back as they were",
    lasting=True,
)
COUNTED = Proof(
    "it is known how many findings are open",
    lambda facts: facts.open_findings is not None and facts.open_findings >= 0,
    "the review does not say which findings are resolved, accepted or open",
)
PUBLISHED = Proof(
    "there is a branch or a pull request",
    lambda facts: facts.has_branch_or_pull_request is True,
    "there is neither a branch nor a pull request with this work",
    lasting=True,
)


class Row(msgspec.Struct, frozen=True):
    """`kept_as`: the key of `artifacts` that stores the name of the artifact from then on."""

    artifact: str
    proofs: tuple[Proof, ...]
    kept_as: str | None = None


_ALWAYS = (ARTIFACT, COMMIT, NEWER)

RECEIPTS: dict[Phase, Row] = {
    "brainstorm": Row("the document of the brainstorm", _ALWAYS, "brainstorm_file"),
    "plan": Row("the plan", (*_ALWAYS, PLAN), "plan_file"),
    "spec_test": Row("the acceptance tests", (*_ALWAYS, RED), "acceptance_tests_file"),
    "deepen": Row("the plan, deepened", (*_ALWAYS, PLAN, UNTOUCHED)),
    "work": Row("a file that the work is in", (*_ALWAYS, UNTOUCHED, GREEN)),
    "review": Row("the findings", (*_ALWAYS, UNTOUCHED, COUNTED)),
    "fix": Row("a file that a finding was resolved in", (*_ALWAYS, UNTOUCHED)),
    "re_review": Row("the findings, with what became of each", (*_ALWAYS, UNTOUCHED, COUNTED)),
    "compound": Row("what was learnt", (*_ALWAYS, UNTOUCHED)),
    "test": Row("the report of the tests", (*_ALWAYS, UNTOUCHED, GREEN)),
    "ship": Row("what is shipped: notes, or a changed file", (*_ALWAYS, UNTOUCHED, GREEN_TO_THE_END, PUBLISHED)),
}


def verify_receipt(phase: Phase, receipt: Receipt, facts: Facts) -> tuple[str, ...]:
    """Why this receipt does not prove that the phase is done. Empty: it does."""
    return (*_problems(phase, receipt), *_missing(receipt, facts, RECEIPTS[phase].proofs))


def verify_again(receipt: Receipt, facts: Facts) -> tuple[str, ...]:
    """Why a receipt that was accepted before is no longer valid."""
    lasting = tuple(proof for proof in RECEIPTS[receipt.phase].proofs if proof.lasting)
    return (*_problems(receipt.phase, receipt), *_missing(receipt, facts, lasting))


def receipt_of(loop: PhaseLoop, phase: Phase) -> Receipt | None:
    return next((receipt for receipt in reversed(loop.receipts) if receipt.phase == phase), None)


def _missing(receipt: Receipt, facts: Facts, proofs: tuple[Proof, ...]) -> Iterator[str]:
    for proof in proofs:
        if not proof.holds(facts):
            result = facts.tests_said or "they were not run"
            yield proof.otherwise.format(
                artifact=_seen(receipt.artifact), git_sha=_seen(receipt.git_sha), tests_said=_short(result)
            )


def _problems(phase: Phase, receipt: Receipt) -> Iterator[str]:
    """Mistakes in the receipt itself, independent of the facts."""
    if receipt.phase != phase:
        yield f"this is a receipt of {receipt.phase}, and the loop is in {phase}"
    parts = receipt.artifact.replace("\\", "/").split("/")
    is_path = receipt.artifact.isprintable() and len(receipt.artifact) <= LONGEST_PATH
    if not is_path or not receipt.artifact.strip() or parts[0] == "" or ".." in parts:
        yield f"the artifact {_short(receipt.artifact)!r} is not a path within the project"
    if _SHA.fullmatch(receipt.git_sha) is None:
        yield f"{_short(receipt.git_sha)!r} is not the sha of a commit"


def _seen(text: str) -> str:
    """The text without control characters that a terminal would obey."""
    return _short(text if text.isprintable() else ascii(text))


def _short(text: str) -> str:
    """Claims of agents are recorded, but a long claim is cut."""
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
