"""Makes a graph of a phase: steps of the plan, or findings of a review, become the atoms of an AoT loop.

Steps bring descriptions, dependencies and alternatives, never commands. The base case runs the acceptance tests, and
looks for open findings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aotloop.app.align.draft import Draft, DraftAtom
from aotloop.core.graph.work_graph import highest_number
from aotloop.core.model import Atom, BaseCase, Check, ChecklistItem, Constraints, Loop
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.core.phases.receipts import receipt_of
from aotloop.foreign_tree import begin_beneath
from aotloop.phases.evidence.documents import Step, files_in, findings_in, steps_in
from aotloop.phases.evidence.test_command import command_for, is_plain
from aotloop.phases.project import Project, agreed_tests, protected

AS_GRAPHS: frozenset[Phase] = frozenset({"work", "fix"})

_MADE_BY_US = "A feature is taken from an idea to being shipped; this loop is its phase"
_OPEN = r"^[[:space:]]*[-*] \[ \]"
_QUOTED = re.compile(r"`([^`\s]+)`")
_RESOLVE = "Resolve this finding of the review: "
_MARK = "Mark what became of the findings"
_TITLES = {_RESOLVE: "Fix: ", _MARK: _MARK}
"""How the title of a commit begins, by how the description of its atom begins."""
_LABEL = re.compile(r"^[A-Za-z]{0,4}[0-9]+[.:)]\s+")
_NEEDS = re.compile(r"\s*[(\[](?:depends on|after|needs):?\s[^)\]]*[)\]]", re.IGNORECASE)
_FEWEST_ITERATIONS = 20
_LARGEST = 1_000_000


def is_made_by_us(loop: Loop) -> bool:
    return loop.objective.background_intent.startswith(_MADE_BY_US)


def is_of(loop: Loop, phase_loop: PhaseLoop) -> bool:
    """Whether it was made for this stay in the phase."""
    return loop.objective.background_intent == _intent(phase_loop)


def commit_title(atom: Atom) -> str:
    """As a person would write it: the step or the finding itself, without its number in the plan."""
    line = atom.description.strip().partition("\n")[0]
    for opening, title in _TITLES.items():
        if line.startswith(opening):
            return f"{title}{line.removeprefix(opening)}" if opening == _RESOLVE else title
    line = _NEEDS.sub("", _LABEL.sub("", line)).strip()
    return line[:1].upper() + line[1:]


def draft_of(project: Project, loop: PhaseLoop, before: Loop | None) -> Draft | None:
    """None: there is nothing to make a graph of. `before`: the loop whose place it takes; no id is used again."""
    tests = agreed_tests(loop)
    if tests is None:
        return None
    atoms = _repairs(project, loop) if loop.phase == "fix" else _steps(project, loop)
    if not atoms:
        return None
    return Draft(
        goal=loop.feature,
        background_intent=_intent(loop),
        deliverables=_DELIVERABLES[loop.phase == "fix"],
        definition_of_done=f"The acceptance tests ({tests}) pass, unchanged.",
        base_case=BaseCase(checklist=_checklist(project, loop, tests)),
        protect=protected(loop),
        constraints=Constraints(effort="low", max_iterations=max(_FEWEST_ITERATIONS, 3 * len(atoms))),
        atoms=_numbered(atoms, highest_number(atom.id for atom in before.atoms) if before is not None else 0),
    )


_DELIVERABLES = ("The feature, as the plan describes it.", "What the review found, resolved or accepted with a reason.")


def _intent(loop: PhaseLoop) -> str:
    since = loop.phase_started_at or loop.started_at
    return f"{_MADE_BY_US} {loop.phase}, entered at {since} (round {loop.fix_review_cycles + 1})."


def _checklist(project: Project, loop: PhaseLoop, tests: str) -> tuple[ChecklistItem, ...]:
    command = command_for(project.root, tests, project.settings)
    items = [ChecklistItem(item="acceptance tests", check=Check(type="command", value=command))]
    if loop.phase == "fix" and (file := _findings_file(loop)) is not None:
        words = f"grep -q -e '{_OPEN}' -- {file}"
        items += [
            ChecklistItem(item="findings are on record", check=Check(type="file", value=file)),
            ChecklistItem(item="no finding is open", check=Check(type="not_command", value=words)),
        ]
    return tuple(items)


# --- atoms, by labels of their own -------------------------------------------------------------------------------


def _steps(project: Project, loop: PhaseLoop) -> list[DraftAtom]:
    steps = steps_in(_text(project, loop.artifacts.plan_file))
    shared = {name for name, count in Counter(step.choice for step in steps).items() if name is not None and count > 1}
    return [_atom(step, step.choice if step.choice in shared else None, loop) for step in steps]


def _atom(step: Step, or_group: str | None, loop: PhaseLoop) -> DraftAtom:
    where = f"\n\nThis is the step {step.label} of the plan, {loop.artifacts.plan_file}."
    return DraftAtom(
        id=step.label,
        description=step.text + where,
        depends_on=step.needs,
        or_group=or_group,
        touches=_touched(step),
    )


def _touched(step: Step) -> tuple[str, ...]:
    """Only if every file that it names is marked as a file: in doubt, none is named."""
    quoted, named = _QUOTED.findall(step.text), files_in(step.text)
    return named if set(named) <= set(quoted) else ()


def _repairs(project: Project, loop: PhaseLoop) -> list[DraftAtom]:
    file = _findings_file(loop)
    found = findings_in(_text(project, file)) if file is not None and is_plain(file) else None
    if found is None or not found.open:
        return []
    repairs = [
        DraftAtom(
            id=f"F{number}",
            description=(
                f"{_RESOLVE}{finding}\n\nRepair the cause. If possible, add a test that fails"
                f" without the repair. Do not change {file}; another atom marks the finding there. If the code should"
                " stay as it is, change nothing, and say why."
            ),
        )
        for number, finding in enumerate(found.open, start=1)
    ]
    marking = DraftAtom(
        id="marks",
        description=(
            f"{_MARK} in {file}: look at the code, and make the box of each that is resolved"
            " `[x]`, with how it was. What stays as it is gets `[x]` and at its end `(accepted: why)`. Remove no line."
        ),
        depends_on=tuple(repair.id for repair in repairs if repair.id is not None),
        touches=(file,) if file is not None else (),
    )
    return [*repairs, marking]


def _findings_file(loop: PhaseLoop) -> str | None:
    receipts = [receipt_of(loop, phase) for phase in ("re_review", "review")]
    return next((receipt.artifact for receipt in receipts if receipt is not None), None)


def _numbered(atoms: Sequence[DraftAtom], highest: int) -> tuple[DraftAtom, ...]:
    """Labels become ids. Needs of a step that are no steps are left out."""
    ids = {atom.id: f"A{highest + number}" for number, atom in enumerate(atoms, start=1)}
    return tuple(
        DraftAtom(
            id=ids[atom.id],
            description=atom.description,
            depends_on=tuple(ids[needed] for needed in atom.depends_on if needed in ids),
            or_group=atom.or_group,
            touches=atom.touches,
        )
        for atom in atoms
    )


def _text(project: Project, file: str | None) -> str:
    """A plan that cannot be read has no steps."""
    content = begin_beneath(project.root, file, _LARGEST) if file is not None else None
    return (content or b"").decode("utf-8", "replace")
