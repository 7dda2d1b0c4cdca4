"""Agents write acceptance tests, and we run them: the person agrees to the commands for that before anything begins."""

from __future__ import annotations

from aotloop.cli.consent import require_acceptance
from aotloop.core.phases.settings import ShipSettings

_BY_KIND = (
    "python3 -m pytest -q FILE.py, or python3 -m unittest FILE.py",
    "sh FILE.sh, node --test FILE.js, ruby FILE.rb, go test FILE.go, and the like, by the kind of the file",
)


def commands_for_tests(settings: ShipSettings) -> list[str]:
    """In words: which file it will be is known only when it is written."""
    return [f"{settings.test_command} FILE"] if settings.test_command is not None else list(_BY_KIND)


def require_tests_consent(path: str, settings: ShipSettings, *, yes: bool) -> None:
    what = "would have acceptance tests, which an agent writes, run on your machine like this:"
    require_acceptance(path, commands_for_tests(settings), what, yes=yes)
