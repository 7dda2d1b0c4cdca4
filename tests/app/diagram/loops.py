"""Loops to draw: some as a person would write them, and strategies for those nobody should."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from aotloop.core.model import (
    Atom,
    AtomStatus,
    BaseCase,
    Control,
    Decomposition,
    Loop,
    Objective,
    OrGroup,
)

HOSTILE = (
    '"]; end <script>alert(1)</script>',
    "#quot; &amp; &lt; ]]> --> -.->",
    "\\N \\",
    "`x` 1. _y_",
    "\x1b[31m\x00\r\n\t\u202e\ud800",
    "end",
    "日本語" * 30,
    "e\u0301\u200d\U0001f469\u200d\U0001f4bb",
    "W" * 200,
    "{{}}|;:,",
    "}",
    " ",
)

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For tests of what is drawn, not of how fast the machine is that draws."""


def atom(
    atom_id: str,
    *depends_on: str,
    status: AtomStatus = "pending",
    description: str = "",
    or_group: str | None = None,
) -> Atom:
    return Atom(
        id=atom_id,
        description=description or f"what {atom_id} is about",
        status=status,
        depends_on=depends_on,
        or_group=or_group,
    )


def loop_of(
    atoms: Iterable[Atom],
    decompositions: Iterable[Decomposition] = (),
    or_groups: Mapping[str, OrGroup] | None = None,
    goal: str = "the goal",
) -> Loop:
    return Loop(
        objective=Objective(
            goal=goal,
            base_case=BaseCase(type="command", value="true"),
            background_intent="why",
            deliverables="what",
            definition_of_done="when",
        ),
        control=Control(
            status="running",
            iteration=1,
            stall_count=0,
            prev_pending_count=0,
            stop_requested=False,
            redirect_requested=False,
        ),
        atoms=list(atoms),
        decompositions=list(decompositions),
        or_groups=dict(or_groups or {}),
    )


def split(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="too large")


def sign_in() -> Loop:
    """Every construct once: a decomposition, a group as one of its parts, and a dependency on a choice."""
    return loop_of(
        [
            atom("A1", status="resolved", description="Choose the schema of the user table"),
            atom("A2", "A1", description="Implement authentication"),
            atom("A3", "A1", status="resolved", description="Hash passwords"),
            atom("A4", "A1", status="in_progress", description="Issue signed tokens", or_group="token_method"),
            atom("A4_alt", "A1", description="Keep sessions in the database", or_group="token_method"),
            atom("A5", "A3", "A4", description="Wire the endpoints together"),
        ],
        [split("A2", "A3", "A4")],
        {"token_method": OrGroup(choices=("A4", "A4_alt"), selected="A4")},
        goal="Users can sign in",
    )


def layered(count: int, per_layer: int = 7) -> Loop:
    """Each atom depends on two of the layer above; every tenth is a choice with two alternatives."""
    atoms, or_groups = [], {}
    for number in range(count):
        above = number - per_layer
        needs = {f"A{max(above, 0)}", f"A{max(above - 3, 0)}"} if above >= 0 else set()
        atoms.append(atom(f"A{number}", *sorted(needs)))
        if number % 10 == 9:
            choices = (f"A{number}", f"A{number}_alt", f"A{number}_later")
            atoms.append(atom(choices[1], *sorted(needs)))
            or_groups[f"choice_{number}"] = OrGroup(choices=choices, selected=choices[0])
    return loop_of(atoms, (), or_groups)


def chain(count: int) -> Loop:
    return loop_of([atom("A0"), *(atom(f"A{number}", f"A{number - 1}") for number in range(1, count))])


def nested(depth: int) -> Loop:
    """Each atom was split into the next one alone."""
    return loop_of(
        [atom(f"A{number}") for number in range(depth)],
        [split(f"A{number}", f"A{number + 1}") for number in range(depth - 1)],
    )


_hostile_texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
_plain_ids = st.integers(0, 14).map(lambda number: f"A{number}")


@st.composite
def any_loops(draw: st.DrawFn, *, hostile: bool = True) -> Loop:
    """Valid or not: unknown ids, cycles, self-dependencies, choices in two groups, anything split."""
    texts = _hostile_texts.filter(bool) if hostile else _plain_ids
    names = draw(st.lists(texts, min_size=1, max_size=14, unique=True))
    known = st.sampled_from([*names, "nowhere", "else where"])
    some = st.lists(known, max_size=5).map(tuple)
    atoms = st.builds(
        Atom,
        id=st.sampled_from(names),
        description=_hostile_texts,
        status=st.sampled_from(("pending", "in_progress", "resolved")),
        depends_on=some,
    )
    groups = st.builds(OrGroup, choices=some, selected=known, failed=some, speculative=st.booleans())
    splits = st.builds(Decomposition, parent=known, children=some, reason=st.just("r"))
    return loop_of(
        draw(st.lists(atoms, max_size=14)),
        draw(st.lists(splits, max_size=4)),
        draw(st.dictionaries(texts, groups, max_size=4)),
        goal=draw(_hostile_texts),
    )
