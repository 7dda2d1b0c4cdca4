"""The parts of a page that are made by a program stand between two marks; everything else is written by hand."""

from __future__ import annotations


def replaced(page: str, parts: dict[str, str]) -> str:
    """The page with each marked part as it is made now. A part without its marks is a mistake."""
    for name, made in parts.items():
        begin, end = f"<!-- made by `make docs`: {name} -->", f"<!-- end: {name} -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the page has no part {name!r}: {begin} … {end}")
        page = f"{before}{begin}\n{made.strip()}\n\n{end}{after}"
    return page
