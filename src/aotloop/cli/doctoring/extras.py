"""The optional parts of this distribution, by its own metadata: which are installed, and how to get the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from aotloop.cli.doctoring.findings import Finding

ABOUT = "extras"
_DISTRIBUTION = "aotloop"
_NOT_FOR_USERS = {"dev"}


def extra_findings() -> Iterator[Finding]:
    try:
        names = metadata(_DISTRIBUTION).get_all("Provides-Extra") or []
        needed = requires(_DISTRIBUTION) or []
    except PackageNotFoundError:  # as in a checkout that was never installed
        return
    for extra in sorted({*names} - _NOT_FOR_USERS):
        pattern = rf"([\w.-]+).*extra == ['\"]{re.escape(extra)}['\"]"
        yield _extra(extra, [found[1] for one in needed if (found := re.match(pattern, one))])


def _extra(extra: str, packages: list[str]) -> Finding:
    what = f"{_DISTRIBUTION}[{extra}]"
    there = {package: _version(package) for package in packages}
    missing = [package for package, found in there.items() if found is None]
    if missing:
        fix = f"Only if you want it: pip install '{what}'"
        return Finding(about=ABOUT, what=what, said=f"not installed: {', '.join(missing)}", ok=None, fix=fix)
    said = ", ".join(f"{package} {found}" for package, found in there.items())
    return Finding(about=ABOUT, what=what, said=said)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
