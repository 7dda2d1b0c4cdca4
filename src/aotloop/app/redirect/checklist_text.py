"""A base case as a person writes it: YAML, as in the state file."""

from __future__ import annotations

from typing import Any

from aotloop.core.model import BaseCase
from aotloop.errors import StateFileInvalid
from aotloop.statefile.yaml import careful_reader, nodes

KEY = "base_case"


def read_base_case(data: bytes, name: str) -> BaseCase:
    """Reports every mistake with its place; the content is judged when it is applied."""
    try:
        node = nodes.locate(nodes.compose(data.removeprefix(b"\xef\xbb\xbf"), 1), (KEY,))
    except StateFileInvalid as error:
        raise StateFileInvalid(f"{name}: {error.message}", error.findings) from None
    if node is None:
        raise StateFileInvalid(f"{name}: the YAML is empty")
    reader = careful_reader.Reader()
    try:
        value: Any = reader.read(node, BaseCase)
    except RecursionError:
        raise StateFileInvalid(f"{name}: an alias in the YAML contains itself") from None
    if reader.findings:  # also an unknown key: only understood keys are kept
        shown = "; ".join(str(finding).replace(", kept as it is", "") for finding in reader.findings[:3])
        raise StateFileInvalid(f"{name}: {shown}", reader.findings)
    base_case: BaseCase = value
    return base_case
