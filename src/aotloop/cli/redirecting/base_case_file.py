"""A base case from a file of its own: what stands below `base_case:` in a state file, with that key or without."""

from __future__ import annotations

from typing import Any

from aotloop.core.model import BaseCase
from aotloop.errors import StateFileInvalid
from aotloop.statefile import careful, nodes

KEY = "base_case"


def read_base_case(data: bytes, name: str) -> BaseCase:
    """Everything that is wrong with it is said with its place; what it asks for is judged when it is applied."""
    try:
        node = nodes.locate(nodes.compose(data.removeprefix(b"\xef\xbb\xbf"), 1), (KEY,))
    except StateFileInvalid as error:
        raise StateFileInvalid(f"{name}: {error.message}", error.findings) from None
    if node is None:
        raise StateFileInvalid(f"{name}: there is nothing in it")
    reader = careful.Reader()
    try:
        value: Any = reader.read(node, BaseCase)
    except RecursionError:
        raise StateFileInvalid(f"{name}: an alias in the YAML contains itself") from None
    if reader.findings:  # an unknown key is one, too: nothing of this file is kept but what is understood
        shown = "; ".join(str(finding).replace(", kept as it is", "") for finding in reader.findings[:3])
        raise StateFileInvalid(f"{name}: {shown}", reader.findings)
    base_case: BaseCase = value
    return base_case
