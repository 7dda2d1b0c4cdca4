"""Loops and state files for tests: written out where a person should see them, else generated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.commands import commands_of
from aotloop.core.model import (
    Atom,
    AtomCheck,
    BaseCase,
    Binding,
    Check,
    ChecklistItem,
    Constraints,
    Control,
    Correction,
    Criterion,
    Decomposition,
    Generation,
    Loop,
    Objective,
    OrGroup,
    Prices,
    TrailEntry,
    Verdict,
)
from aotloop.statefile.yaml import emitter
from aotloop.trust.accepted_commands import trust


def atom(atom_id: str, *depends_on: str, status: Any = "pending", **more: Any) -> Atom:
    more.setdefault("description", f"do {atom_id}")
    return Atom(id=atom_id, status=status, depends_on=depends_on, **more)


def a_loop(*atoms: Atom, status: Any = "running", command: str = "true", **more: Any) -> Loop:
    """A valid, agreed loop of these atoms; the groups they name are made, the first choice selected."""
    groups: dict[str, OrGroup] = {}
    for one in atoms:
        if one.or_group is not None:
            before = groups.get(one.or_group)
            choices = (*before.choices, one.id) if before is not None else (one.id,)
            groups[one.or_group] = OrGroup(choices=choices, selected=choices[0])
    more.setdefault("or_groups", groups)
    more.setdefault("bindings", {one.id: Binding(summary=f"did {one.id}") for one in atoms if one.status == "resolved"})
    more.setdefault("constraints", Constraints())
    return Loop(
        objective=Objective(
            goal="It works",
            base_case=more.pop("base_case", BaseCase(type="command", value=command)),
            background_intent="somebody needs it",
            deliverables="code",
            definition_of_done="the tests pass",
            constraints=more.pop("constraints"),
        ),
        control=Control(
            status=status,
            iteration=0,
            stall_count=0,
            prev_pending_count=-1,
            stop_requested=False,
            redirect_requested=False,
        ),
        atoms=list(atoms),
        **more,
    )


def a_large_loop(*atoms: Atom, **more: Any) -> Loop:
    """With so many attempts that nothing but bad luck limits patience."""
    constraints = replace(more.pop("constraints", Constraints()), max_total_attempts=10**6)
    return a_loop(*atoms, constraints=constraints, **more)


def as_file(loop: Loop, body: str = "\n# Original Prompt\n\nPlease.\n") -> bytes:
    return b"---\n" + emitter.block(emitter.to_data(loop), 0).encode() + b"---\n" + body.encode()


def write_loop(project: Path, loop: Loop) -> Path:
    path = project / ".claude" / "aot-loop-state.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(as_file(loop))
    return path


def write_accepted(project: Path, loop: Loop) -> Path:
    """With its commands accepted, as by a person in a terminal."""
    path = write_loop(project, loop)
    trust(str(path), commands_of(loop))
    return path


# --- generated ---------------------------------------------------------------------------------------------------

texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30),
    st.sampled_from(
        ["", " ", "yes", "null", "~", "1", "1.5", "012", "1e3", "2025-01-15", "- x", "a: b", "x #y", "# z", "'",
        '"', "\\",
         "nan", "-inf", "Null", "*a", "&a", "!x", "@x", "%x", "`x", "?", "|", ">", "[x", "{x", "a\nb",
         "a\r\nb", "\t", "é", "日本",
         "\u2028", "\x85", "\ufeff", "\x7f", "😀", "---", "...", "<<", "=", "true", "on", "12:30", ".5", "key: [a, b]"]
    ),
)  # fmt: skip
names = st.one_of(
    st.from_regex(r"A[1-9][0-9]?", fullmatch=True),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True),
    texts.filter(lambda text: bool(text.strip())),
)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32).map(float)
name_tuples = st.lists(names, max_size=3).map(tuple)
checks = st.builds(
    Check,
    type=st.sampled_from(["command", "not_command", "file", "not_file", "assertion", "quality"]),
    value=st.none() | texts,
    criteria=st.none() | texts,
    pass_threshold=st.none() | numbers,
    scope=st.none() | texts | name_tuples,
    rubric=st.none()
    | st.lists(
        st.builds(
            Criterion,
            criterion=texts,
            weight=numbers,
            description=st.none() | texts,
            levels=st.dictionaries(st.integers(0, 9), texts, max_size=2),
        ),
        max_size=2,
    ).map(tuple),
)
items: Any = st.recursive(
    st.builds(ChecklistItem, item=texts, check=checks),
    lambda inner: st.one_of(
        st.builds(ChecklistItem, item=texts, group=st.lists(inner, max_size=2).map(tuple)),
        st.builds(ChecklistItem, item=texts, any_of=st.lists(inner, max_size=2).map(tuple)),
    ),
    max_leaves=4,
)
base_cases = st.one_of(
    st.builds(BaseCase, checklist=st.lists(items, max_size=3).map(tuple)),
    st.builds(BaseCase, type=st.sampled_from(["command", "file", "assertion"]), value=texts),
)
objectives = st.builds(
    Objective,
    goal=texts,
    base_case=base_cases,
    background_intent=texts,
    deliverables=texts,
    definition_of_done=texts,
    constraints=st.builds(
        Constraints,
        effort=st.sampled_from(["low", "normal", "high"]),
        max_iterations=st.none() | st.integers(0, 10**20),
        max_stall_count=st.none() | st.integers(1, 5),
        max_attempts=st.none() | st.integers(1, 3),
        max_total_attempts=st.none() | st.integers(1, 99),
        max_cost_usd=st.none() | numbers,
        max_runtime=st.none() | st.integers(1, 9) | texts,
    ),
    protect=name_tuples,
)
controls = st.builds(
    Control,
    status=st.sampled_from(["pending", "running", "stopped", "completed"]),
    iteration=st.integers(0, 99),
    stall_count=st.integers(0, 9),
    prev_pending_count=st.integers(-1, 9),
    stop_requested=st.booleans(),
    stop_reason=st.none() | texts,
    redirect_requested=st.booleans(),
    run_id=st.none() | texts,
    cost_usd=numbers,
    generation=st.builds(
        Generation, outcomes=st.integers(0, 9), least=st.integers(0, 9), got_smaller=st.booleans(), grown=name_tuples
    ),
    tried=st.integers(0, 99),
    won=st.integers(0, 9),
    needed=st.integers(0, 99),
    fewest_unresolved=st.none() | st.integers(0, 9),
    shares=st.none() | st.integers(1, 9),
    prices=st.builds(Prices, attempts=st.integers(0, 9), attempts_usd=numbers, negative=st.integers(0, 9)),
    verdict=st.none()
    | st.builds(
        Verdict,
        passed=st.booleans(),
        objective_digest=texts,
        at=texts,
        failing=name_tuples,
        repair_rounds=st.dictionaries(names, st.integers(0, 3), max_size=2),
        scores=st.dictionaries(names, st.dictionaries(names, numbers, max_size=2), max_size=1),
    ),
)
atoms_ = st.builds(
    Atom,
    id=names,
    description=texts,
    status=st.sampled_from(["pending", "in_progress", "resolved"]),
    depends_on=name_tuples,
    or_group=st.none() | names,
    run=st.none() | texts,
    check=st.none() | st.builds(AtomCheck, type=st.just("command"), value=texts),
    touches=name_tuples,
    covers=name_tuples,
    probe=st.booleans(),
    timeout=st.none() | st.integers(1, 9) | texts,
    estimate=st.none() | numbers,
    attempts=st.integers(0, 3),
    failures=st.integers(0, 9),
    alike=st.integers(0, 9),
    partial=st.booleans(),
    reopened=st.booleans(),
)
bindings = st.builds(Binding, summary=texts, artifacts=name_tuples)
trail_entries = st.builds(
    TrailEntry,
    or_group=st.none() | names,
    selected=st.none() | names,
    reason=texts,
    timestamp=texts,
    type=st.sampled_from(["selection", "failure", "user_correction"]),
    atom=st.none() | names,
    attempt=st.none() | st.integers(1, 3),
)
groups = st.builds(
    OrGroup,
    choices=name_tuples,
    selected=names,
    failed=name_tuples,
    round=st.integers(0, 3),
    seen=name_tuples,
    blames=st.dictionaries(names, st.integers(1, 3), max_size=2),
    hints=st.dictionaries(names, st.lists(names, min_size=1, max_size=2).map(tuple), max_size=2),
    speculative=st.booleans(),
)
decompositions = st.builds(Decomposition, parent=names, children=name_tuples, reason=texts)
corrections = st.builds(
    Correction,
    timestamp=texts,
    type=st.sampled_from(["objective_change", "dag_adjustment", "constraint_change", "bindings_override"]),
    description=texts,
    trail_cleared=st.booleans(),
)
loops = st.builds(
    Loop,
    objective=objectives,
    control=controls,
    atoms=st.lists(atoms_, max_size=4, unique_by=lambda one: one.id),
    decompositions=st.lists(decompositions, max_size=2),
    or_groups=st.dictionaries(names, groups, max_size=2),
    bindings=st.dictionaries(names, bindings, max_size=3),
    trail=st.lists(trail_entries, max_size=3),
    corrections=st.lists(corrections, max_size=2),
)
