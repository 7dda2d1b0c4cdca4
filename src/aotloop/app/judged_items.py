"""The items of a base case that no program decides, and the claims that a person confirms or rejects."""

from __future__ import annotations

from aotloop.checks.evaluation import leaves_by_path
from aotloop.core.checklist import JUDGED, Leaf
from aotloop.core.model import Check, Loop


def judged_items(loop: Loop) -> dict[str, Leaf]:
    """By path of names."""
    found = leaves_by_path(loop.objective.base_case)
    return {path: leaf for path, leaf in found.items() if leaf.check.type in JUDGED}


def claim_of(check: Check) -> list[str]:
    """The statements that a person confirms with this item, line by line."""
    if check.type == "assertion":
        return [check.value or ""]
    least = f"at least {check.pass_threshold:g} of 5" if check.pass_threshold is not None else "good enough"
    if check.criteria is not None:
        return [f"{least}: {check.criteria}"]
    criteria = [f"{rule.criterion} (weight {rule.weight:g})" for rule in check.rubric or ()]
    return [f"{least}, on the weighted mean of:", *criteria]
