"""What somebody who looked found out about a receipt. None: nobody looked, which proves nothing."""

from __future__ import annotations

import msgspec


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    artifact_exists: bool | None = None
    """In the project, as a file."""
    artifact_has_content: bool | None = None
    commit_known: bool | None = None
    """In this repository, and part of what is checked out."""
    commit_is_newer: bool | None = None
    """Than the beginning of the phase."""
    plan_names_files_and_steps: bool | None = None
    tests_pass: bool | None = None
    """The acceptance tests, run by us just now. False: they ran, and failed; that they could not run is None."""
    tests_said: str = ""
    """The evidence for that: how they ended, or why they could not be run."""
    tests_untouched: bool | None = None
    """The acceptance tests are those of the receipt of spec_test."""
    open_findings: int | None = None
    """Of the last review: neither resolved nor recorded as accepted."""
    has_branch_or_pull_request: bool | None = None
