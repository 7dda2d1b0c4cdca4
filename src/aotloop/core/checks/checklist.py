"""The tree of checks: leaves, "all of" and "any of". Every check has this one shape.

The base case (a checklist, or the single check of older files) and an atom's own check are both turned into this tree.
The table `REQUIRED_TERMS` says which fields a check of each type needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from aotloop.core.checks.item_paths import SEPARATOR, distinct
from aotloop.core.findings import Finding, Path, error, warning
from aotloop.core.model import Atom, AtomCheck, BaseCase, Check, ChecklistItem, CheckTerms, CheckType, Criterion

JUDGED: frozenset[CheckType] = frozenset({"assertion", "quality"})
"""A judge decides these checks (for an assertion, a person can decide too). No command decides them."""

LOWEST_SCORE, HIGHEST_SCORE = 1, 5


class Leaf(msgspec.Struct, frozen=True):
    name: str
    check: Check


class AllOf(msgspec.Struct, frozen=True):
    name: str
    children: tuple[Node, ...]


class AnyOf(msgspec.Struct, frozen=True):
    name: str
    children: tuple[Node, ...]


Node = Leaf | AllOf | AnyOf


def base_case_tree(base_case: BaseCase) -> AllOf:
    """The children are the items of the checklist, in order. An old single check becomes a list with one item."""
    if base_case.checklist is not None:
        return AllOf("base case", tuple(_item(child) for child in base_case.checklist))
    check = _single_check(base_case, base_case.type)
    return AllOf("base case", (Leaf(_describe(check), check),))


def atom_check_tree(check: AtomCheck, name: str) -> Node:
    if check.group is not None:
        return AllOf(name, tuple(_item(child) for child in check.group))
    if check.any_of is not None:
        return AnyOf(name, tuple(_item(child) for child in check.any_of))
    return Leaf(name, _single_check(check, check.type))


def check_of(atom: Atom, base_case: BaseCase) -> Node | None:
    """The check that decides this atom. None: the atom has no check, and the claim of its worker is accepted."""
    return decided_by(atom.check, atom.covers, base_case, f"check of {atom.id}")


def decided_by(check: AtomCheck | None, covers: Iterable[str], base_case: BaseCase, name: str) -> Node | None:
    """The check that decides an atom: its own check and the base case items that it covers. None if it has neither.

    Covered items that need a judge are not included; the base case decides them.
    """
    found = [atom_check_tree(check, name)] if check is not None else []
    if wanted := set(covers):
        items = items_of(base_case_tree(base_case))
        found += [item for item in items if item.name in wanted and not is_judged(item)]
    return found[0] if len(found) == 1 else AllOf(name, tuple(found)) if found else None


def items_of(node: Node) -> Iterator[Node]:
    """All items below this node, at any depth. Each item comes before the items inside it."""
    for child in () if isinstance(node, Leaf) else node.children:
        yield child
        yield from items_of(child)


def item_names(base_case: BaseCase) -> list[str]:
    """The names that an atom can cover, in the order of the file. A name that occurs twice is listed twice."""
    return [item.name for item in items_of(base_case_tree(base_case))]


def count_repairable(node: Node) -> int:
    """How many items can fail separately. An any_of counts as one item."""
    return sum(1 for _ in _repairable(node))


def failing_items_of(base_case: BaseCase, covers: Iterable[str]) -> set[str]:
    """The paths under which a verdict can report these items as failing. An any_of fails as one item."""
    return set(_failing_paths(base_case_tree(base_case).children, "", set(covers)))


def _failing_paths(items: Sequence[Node], above: str, wanted: set[str], is_covered: bool = False) -> Iterator[str]:
    for label, item in zip(distinct([sibling.name for sibling in items]), items, strict=True):
        covered = is_covered or item.name in wanted
        if isinstance(item, AllOf):
            yield from _failing_paths(item.children, f"{above}{label}{SEPARATOR}", wanted, covered)
        elif covered or any(inner.name in wanted for inner in items_of(item)):
            yield above + label


def _repairable(node: Node) -> Iterator[str]:
    if isinstance(node, AllOf):
        for child in node.children:
            yield from _repairable(child)
    else:
        yield node.name


def is_judged(node: Node) -> bool:
    return any(leaf.check.type in JUDGED for leaf in leaves(node))


def is_decidable(node: Node | None) -> bool:
    """Whether there is a check that programs alone decide."""
    return node is not None and not is_judged(node)


def leaves(node: Node) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    else:
        for child in node.children:
            yield from leaves(child)


def _item(item: ChecklistItem) -> Node:
    if item.check is not None:
        return Leaf(item.item, item.check)
    if item.group is not None:
        return AllOf(item.item, tuple(_item(child) for child in item.group))
    return AnyOf(item.item, tuple(_item(child) for child in item.any_of or ()))


def _single_check(terms: CheckTerms, check_type: CheckType | None) -> Check:
    return Check(
        type=check_type or "command",
        value=terms.value,
        rubric=terms.rubric,
        criteria=terms.criteria,
        pass_threshold=terms.pass_threshold,
        scope=terms.scope,
    )


def _describe(check: Check) -> str:
    return f"{check.type}: {check.value or check.criteria or 'rubric'}"


# --- validation of a checklist ----------------------------------------------------------------------------------


def problems_of_base_case(base_case: BaseCase, path: Path) -> Iterator[Finding]:
    if base_case.checklist is not None and base_case.type is not None:
        yield error(path, "has both a checklist and a type; keep one of them")
    elif base_case.checklist is not None:
        yield from _problems_of_items(base_case.checklist, (*path, "checklist"))
    elif base_case.type is None:
        yield error(path, "has neither a checklist nor a type", missing=True)
    else:
        yield from _problems_of_terms(base_case, base_case.type, path)


def problems_of_atom_check(check: AtomCheck, path: Path) -> Iterator[Finding]:
    forms = [name for name in ("type", "group", "any_of") if getattr(check, name) is not None]
    if len(forms) != 1:
        yield error(path, f"needs exactly one of type, group and any_of, has {_listed(forms)}")
    elif check.type is not None:
        yield from _problems_of_terms(check, check.type, path)
    else:
        (form,) = forms
        yield from _problems_of_items(getattr(check, form), (*path, form))


def _problems_of_items(items: tuple[ChecklistItem, ...], path: Path) -> Iterator[Finding]:
    if not items:
        yield error(path, "is empty, so it can never be decided; add at least one item")
    for position, item in enumerate(items):
        here = (*path, position)
        forms = [name for name in ("check", "group", "any_of") if getattr(item, name) is not None]
        if not item.item.strip():
            yield error((*here, "item"), "is blank; name what is checked")
        if len(forms) != 1:
            yield error(here, f"needs exactly one of check, group and any_of, has {_listed(forms)}")
        elif item.check is not None:
            yield from _problems_of_terms(item.check, item.check.type, (*here, "check"))
        else:
            (form,) = forms
            yield from _problems_of_items(getattr(item, form), (*here, form))


def _problems_of_terms(terms: CheckTerms, check_type: CheckType, path: Path) -> Iterator[Finding]:
    if check_type == "quality":
        yield from _problems_of_quality(terms, path)
        return
    if terms.value is None or not terms.value.strip():
        yield error((*path, "value"), f"a {check_type} check needs a value", missing=True)
    elif "\0" in terms.value:
        yield error((*path, "value"), "contains a NUL character")
    for name in ("rubric", "criteria", "pass_threshold"):
        if getattr(terms, name) is not None:
            yield warning((*path, name), f"means nothing for a {check_type} check")


def _problems_of_quality(terms: CheckTerms, path: Path) -> Iterator[Finding]:
    if (terms.rubric is None) == (terms.criteria is None):
        has = "both" if terms.rubric is not None else "neither"
        yield error(path, f"a quality check needs either a rubric or criteria, has {has}", missing=has == "neither")
    if terms.criteria is not None and not terms.criteria.strip():
        yield error((*path, "criteria"), "is blank; say what is judged", missing=True)
    if terms.pass_threshold is None:
        yield error((*path, "pass_threshold"), "a quality check needs a threshold from 1 to 5", missing=True)
    elif not LOWEST_SCORE <= terms.pass_threshold <= HIGHEST_SCORE:
        yield error((*path, "pass_threshold"), f"{terms.pass_threshold:g} is not between 1 and 5, the scale of scores")
    if terms.rubric is not None:
        yield from _problems_of_rubric(terms.rubric, (*path, "rubric"))


def _problems_of_rubric(rubric: tuple[Criterion, ...], path: Path) -> Iterator[Finding]:
    if not rubric:
        yield error(path, "is empty; name at least one criterion")
    for position, criterion in enumerate(rubric):
        here = (*path, position)
        if not criterion.criterion.strip():
            yield error((*here, "criterion"), "is blank; name what is scored")
        if not 0 < criterion.weight < float("inf"):
            yield error((*here, "weight"), f"{criterion.weight:g} is not a positive number")
        for level in criterion.levels:
            if not LOWEST_SCORE <= level <= HIGHEST_SCORE:
                yield error((*here, "levels"), f"level {level} is not on the scale from 1 to 5")
    names = [criterion.criterion for criterion in rubric]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield error(path, f"names the criterion {name!r} twice")
    total = sum(criterion.weight for criterion in rubric)
    if rubric and abs(total - 1) > 1e-6:
        yield warning(path, f"the weights sum to {total:g}, not 1; each is divided by the sum")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
