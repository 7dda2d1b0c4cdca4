"""How a person and a machine come to agree on a loop: from whatever they have, by way of a draft, to a valid file.

files, imports, a planner, a form → draft → shape (is it valid?) → red first → applying
"""

from aotloop.alignment.draft import Draft, DraftAtom, DraftGroup

__all__ = ["Draft", "DraftAtom", "DraftGroup"]
