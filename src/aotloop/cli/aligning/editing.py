"""A draft in the person's own editor; what cannot be read is said, and can be edited again without being lost."""

from __future__ import annotations

import click

from aotloop.alignment.draft import Draft
from aotloop.alignment.files import read_draft, write_draft
from aotloop.cli.asking import ask
from aotloop.cli.foreign import prose
from aotloop.cli.output import mark, tell
from aotloop.errors import StateFileInvalid


def edited(draft: Draft) -> Draft | None:
    """None: nothing was changed, or it was given up."""
    text: str | None = write_draft(draft)
    while text is not None:
        try:
            text = click.edit(text, extension=".yaml")
        except click.ClickException as error:  # there is none, or it failed; what was said so far is not lost
            tell(prose(error.format_message()), head=f"{mark(False)} ", err=True)
            return None
        if text is None:
            tell("Nothing was changed.", err=True)
            return None
        try:
            return read_draft(text.encode(), "what you wrote")
        except StateFileInvalid as error:
            tell(prose(error.message), head=f"{mark(False)} ", err=True)
        if ask("Edit it again? [Y/n]").lower() in ("n", "no"):
            return None
    return None
