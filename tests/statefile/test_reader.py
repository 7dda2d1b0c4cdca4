"""A file means what PyYAML's safe loader says; what is wrong with it is said with line, column and key."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.limits import limits_of
from aotloop.core.model import Constraints, Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile.document import Document
from aotloop.statefile.reader import decode, examine, read_value
from aotloop.statefile.yaml import fast_reader
from aotloop.statefile.yaml.emitter import to_data
from tests import loops as made
from tests.loops import a_loop, as_file, atom

MINIMAL = """\
---
objective:
  goal: g
  base_case: {type: command, value: "true"}
  background_intent: b
  deliverables: d
  definition_of_done: x
control:
  status: pending
  iteration: 0
  stall_count: 0
  prev_pending_count: -1
  stop_requested: false
  redirect_requested: false
atoms:
  - id: A1
    description: one
    status: pending
    depends_on: []
bindings: {}
trail: []
corrections: []
---
"""


def with_line(old: str, new: str) -> bytes:
    assert old in MINIMAL
    return MINIMAL.replace(old, new).encode()


def errors_of(data: bytes) -> list[str]:
    with pytest.raises(StateFileInvalid):
        decode(data)
    return [str(finding) for finding in examine(data).errors]


# --- required and optional ---------------------------------------------------------------------------------------


def test_optional_parts_have_their_defaults() -> None:
    loop = decode(MINIMAL.encode())
    assert (loop.decompositions, loop.or_groups, loop.control.stop_reason) == ([], {}, None)
    assert loop.objective.constraints == Constraints()
    limits = limits_of(loop.objective.constraints)
    assert (limits.max_iterations, limits.max_parallel_agents, limits.max_stall_count) == (20, 3, 3)


@pytest.mark.parametrize("section", ["bindings: {}\n", "trail: []\n", "corrections: []\n"])
def test_missing_lists_are_read_as_empty_with_a_warning(section: str) -> None:
    data = with_line(section, "")
    assert decode(data) == decode(MINIMAL.encode())
    assert [str(one) for one in examine(data).warnings] == [
        f"line 2, column 1: {section.split(':', maxsplit=1)[0]}: is missing; read as empty"
    ]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("  goal: g\n", "objective.goal"),
        ('  base_case: {type: command, value: "true"}\n', "objective.base_case"),
        ("  definition_of_done: x\n", "objective.definition_of_done"),
        ("  status: pending\n  iteration", "control.status"),
        ("  stall_count: 0\n", "control.stall_count"),
        ("  stop_requested: false\n", "control.stop_requested"),
        ("    depends_on: []\n", "atoms[0].depends_on"),
        ("    description: one\n", "atoms[0].description"),
    ],
)
def test_a_missing_required_key_is_an_error_that_names_it(line: str, path: str) -> None:
    data = with_line(line, "  iteration" if line.endswith("iteration") else "")
    assert [one for one in errors_of(data) if f"{path}: is missing" in one]


def test_an_empty_section_without_a_value_is_read_as_empty() -> None:
    data = with_line("bindings: {}\ntrail: []\n", "bindings:\ntrail:\nor_groups:\ndecompositions: ~\n")
    assert decode(data) == decode(MINIMAL.encode())


def test_or_group_null_is_the_same_as_no_or_group() -> None:
    assert decode(with_line("depends_on: []", "depends_on: []\n    or_group: null")) == decode(MINIMAL.encode())


def test_unknown_keys_are_kept_and_reported_with_what_was_probably_meant() -> None:
    data = with_line("  deliverables: d", "  deliverables: d\n  scope: src\n  protects: [a]")
    assert decode(data) == decode(MINIMAL.encode())
    assert [str(one) for one in examine(data).warnings] == [
        "line 7, column 10: objective.scope: unknown key, kept as it is",
        "line 8, column 13: objective.protects: unknown key, kept as it is; did you mean protect?",
    ]


# --- meaning -----------------------------------------------------------------------------------------------------

PLAIN = [
    "yes", "no", "on", "off", "y", "n", "true", "True", "TRUE", "tRUE", "false", "null", "Null", "NULL", "~",
    "", "0", "1", "-1",
    "+1", "012", "0o17", "0x1F", "0b11", "1_000", "1e3", "1.0e3", "1.0e+3", ".5", "-.5", "1.", "1.10", "0.50",
    ".inf", "-.inf",
    ".nan", "nan", "inf", "-inf", "Infinity", "12:30", "1:20:30", "2025-01-15", "2025-01-15T10:00:00Z",
    "1.5.2", "007", "08",
    "x:y", "a#b", "a b", "it's", "-x", "--1", "?x", ":x", "<", "=", ".", "-", "1 2", "null x",
    "123456789012345678901234567890",
]  # fmt: skip


@pytest.mark.parametrize("scalar", PLAIN)
def test_text_is_taken_as_it_is_written(scalar: str) -> None:
    """Where text belongs, `1.10` and `yes` are text; where PyYAML too reads text, it is the same text."""
    source = f"k: {scalar}\n".encode()
    try:
        meant = yaml.safe_load(source)["k"]
    except yaml.YAMLError:
        assert read_value(source, dict[str, str]) in (None, {"k": scalar})
        return
    read = read_value(source, dict[str, str])
    if meant is None:
        assert read is None
    else:
        assert read == {"k": meant if isinstance(meant, str) else scalar}


@pytest.mark.parametrize("scalar", PLAIN)
@pytest.mark.parametrize("kind", [int, float, bool])
def test_numbers_and_booleans_are_what_pyyaml_says(scalar: str, kind: type) -> None:
    source = f"k: {scalar}\n".encode()
    try:
        meant: Any = yaml.safe_load(source)["k"]
    except (yaml.YAMLError, ValueError):
        return
    read = read_value(source, dict[str, kind])  # type: ignore[valid-type]
    if type(meant) is kind or (kind is float and type(meant) is int):
        assert read is not None
        assert _as_floats(read) == _as_floats({"k": meant})
    elif kind is bool or isinstance(meant, bool | date) or meant is None:
        assert read is None


def _as_floats(values: Any) -> list[str]:
    return [repr(float(value)) for value in values.values()]


@given(made.loops, st.sampled_from([None, True, False]), st.sampled_from([None, '"', "'", "|", ">"]))
def test_both_readers_agree_wherever_the_fast_one_vouches(loop: Loop, flow: Any, style: Any) -> None:
    text = yaml.safe_dump(to_data(loop), default_flow_style=flow, default_style=style, allow_unicode=True).encode()
    quick = fast_reader.read(text, Loop)
    if quick is not None:
        assert quick == examine(b"---\n" + text + b"---\n").loop


def test_the_fast_reader_takes_every_ordinary_file() -> None:
    """If it did not, everything else would still pass, only thirty times slower."""
    for data in (MINIMAL.encode(), as_file(a_loop(atom("A1"), atom("A2", "A1", touches=("src/**/*.py",))))):
        assert fast_reader.read(data.split(b"---\n")[1], Loop) is not None
    shell = with_line('value: "true"', 'value: "a && b | c > d; ! e; f * g %h ~/i @j `k`"')
    assert fast_reader.read(shell.split(b"---\n")[1], Loop) is not None


@given(
    st.dictionaries(st.sampled_from("abc"), made.texts, min_size=1),
    st.sampled_from([None, '"', "'", "|", ">"]),
)
def test_generated_texts_mean_what_pyyaml_says(texts: dict[str, str], style: Any) -> None:
    source = yaml.safe_dump(texts, default_style=style, allow_unicode=True).encode()
    assert read_value(source, dict[str, str]) == yaml.safe_load(source)


def test_anchors_aliases_and_merges_are_resolved() -> None:
    data = with_line("  - id: A1\n", "  - &first\n    id: A1\n").replace(
        b"bindings:", b"  - <<: *first\n    id: A2\n    depends_on: [A1]\nbindings:"
    )
    loop = decode(data)
    assert [(one.id, one.description, one.depends_on) for one in loop.atoms] == [
        ("A1", "one", ()),
        ("A2", "one", ("A1",)),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_make_no_difference(newline: str, mark: str) -> None:
    data = (mark + MINIMAL.replace("\n", newline)).encode()
    assert decode(data) == decode(MINIMAL.encode())


# --- errors ------------------------------------------------------------------------------------------------------


def test_a_wrong_value_is_reported_with_its_place_and_what_was_expected() -> None:
    data = with_line("  status: pending\n  iteration: 0", "  status: runing\n  iteration: many")
    assert errors_of(data) == [
        "line 9, column 11: control.status: expected one of completed, pending, running, stopped, found 'runing'",
        "line 10, column 14: control.iteration: expected a whole number, found 'many'",
    ]


def test_a_syntax_error_is_reported_with_its_place() -> None:
    found = errors_of(with_line("depends_on: []", "depends_on: [A1"))
    assert len(found) == 1
    assert found[0].startswith("line 20, column ")
    assert "not readable as YAML" in found[0]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "does not begin with a line `---`"),
        (b"no front matter", "does not begin with a line `---`"),
        (b"---\na: 1\n", "not closed by a line `---`"),
        (b"---\n---\n", "nothing between the two lines"),
        (b"---\n# only a comment\n---\n", "nothing between the two lines"),
        (b"---\n- a\n---\n", "expected a mapping, found a list"),
        (b"---\njust text\n---\n", "expected a mapping, found 'just text'"),
        (with_line("goal: g", "goal: \x00"), "not readable as YAML"),
        (with_line("goal: g", "goal: \x07"), "not readable as YAML"),
        (with_line("goal: g", "goal: g\n  goal: h"), "objective.goal: this key occurs twice here"),
        (with_line("atoms:", "atoms: []\natoms:"), "atoms: this key occurs twice here"),
        (with_line("goal: g", "goal: *nowhere"), "is an alias; put it in quotes"),
        (with_line("goal: g", "goal: !!python/object:os.system x"), "expected text"),
        (with_line("goal: g", "goal: [a, b]"), "objective.goal: expected text, found a list"),
        (with_line("depends_on: []", "depends_on: A0"), "atoms[0].depends_on: expected a list, found 'A0'"),
        (with_line("goal: g", "goal: @x"), "not readable as YAML"),
        (with_line("goal: g", "goal: a: b"), "not readable as YAML"),
        (with_line("  goal: g", "\tgoal: g"), "not readable as YAML"),
        (with_line("bindings: {}", "bindings: {A1: {artifacts: []}}"), "bindings.A1.summary: is missing"),
        (with_line("trail: []", "trail: [{or_group: g}]"), "trail[0].reason: is missing"),
    ],
)
def test_what_cannot_be_understood_is_a_clear_error(data: bytes, what: str) -> None:
    found = errors_of(data)
    assert [one for one in found if what in one], found
    assert all("line " in one for one in found)


def test_bytes_that_are_not_utf8_are_an_error_with_their_place() -> None:
    found = errors_of(MINIMAL.encode().replace(b"goal: g", b"goal: caf\xe9"))
    assert found == ["line 3, column 12: not readable as YAML: byte 0xe9 is not valid UTF-8; save the file as UTF-8"]


def test_two_atoms_of_one_id_are_refused_because_no_change_could_name_one() -> None:
    data = with_line("bindings:", "  - {id: A1, description: two, status: pending, depends_on: []}\nbindings:")
    assert [one for one in errors_of(data) if "A1 is used 2 times" in one]


def bomb(key: str, width: int = 10, depth: int = 10) -> bytes:
    layers = [f"  x0: &x0 {{item: a, {key}: []}}"]
    layers += [
        f"  x{level}: &x{level} {{item: a, {key}: [{', '.join([f'*x{level - 1}'] * width)}]}}"
        for level in range(1, depth)
    ]
    text = "\n".join(["extra:", *layers])
    case = f"base_case: {{checklist: [*x{depth - 1}]}}"
    return (
        MINIMAL.replace("---\nobjective:", f"---\n{text}\nobjective:")
        .replace('base_case: {type: command, value: "true"}', case)
        .encode()
    )


@pytest.mark.parametrize("key", ["group", "any_of"])
def test_an_alias_bomb_is_an_error_not_a_hang(key: str) -> None:
    assert [one for one in errors_of(bomb(key)) if "aliases of this file expand" in one]


def test_a_merge_bomb_is_no_bomb() -> None:
    layers = ["  x0: &x0 {k0: 1}"]
    layers += [f"  x{n}: &x{n} {{<<: [{', '.join([f'*x{n - 1}'] * 10)}], k{n}: 1}}" for n in range(1, 30)]
    data = MINIMAL.replace("---\nobjective:", "---\nextra:\n" + "\n".join(layers) + "\nobjective:")
    assert decode(data.encode()) == decode(MINIMAL.encode())


def test_an_alias_inside_itself_is_an_error() -> None:
    data = with_line(
        'base_case: {type: command, value: "true"}',
        "base_case:\n    checklist: &all\n      - {item: a, group: *all}",
    )
    assert errors_of(data)


@pytest.mark.parametrize(
    "deep",
    ["[" * 200_000, "[" * 300 + "]" * 300, "{a: " * 200_000, "- " * 200_000, "-   " * 50_000, "? " * 100_000],
    ids=lambda text: f"{text[:4].strip()} x {len(text)}",
)
def test_nesting_without_end_is_an_error_not_a_crash(deep: str) -> None:
    assert errors_of(with_line("  goal: g", f"  goal:\n    {deep}"))


def test_deep_checklists_are_fine() -> None:
    nested = "{item: leaf, check: {type: command, value: 'true'}}"
    for level in range(100):
        nested = f"{{item: n{level}, {'group' if level % 2 else 'any_of'}: [{nested}]}}"
    data = with_line('base_case: {type: command, value: "true"}', f"base_case: {{checklist: [{nested}]}}")
    assert examine(data).errors == ()
    document = Document(data)
    loop = document.loop()
    loop.control = replace(loop.control, iteration=1)
    assert decode(document.revise(loop)) == loop


# --- where the fast reader would have been wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "k: | # see-2\n   x\n",
        "k: | # +\n   x\n\n\n",
        "k: >- # c\n   x\n",
        'k: "\\ud83d"\n',
        "k: [x, 'y',?a]\n",
        "k: {a:}\n",
        "k: {a:,b: c}\n",
        "...\nk: v\n",
        "k:\n  - 'a'  - 'b'\n",
        "k:\n- 'a'\n x: b\n",
    ],
)
def test_text_that_rapidyaml_reads_in_its_own_way_is_not_left_to_it(text: str) -> None:
    try:
        meant = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        meant = None
    assert fast_reader.read(text.encode(), dict) in (None, meant)


@pytest.mark.parametrize("written", ["010", "1_000", "0x10", "1:30", "1e3", "90", "1.5", "90s"])
def test_a_length_of_time_is_the_same_whichever_reader_reads_it(written: str) -> None:
    plain = with_line("depends_on: []", f"depends_on: []\n    timeout: {written}")
    anchored = with_line("depends_on: []", f"depends_on: &none []\n    timeout: {written}")
    assert decode(plain).atoms[0].timeout == decode(anchored).atoms[0].timeout


@pytest.mark.parametrize("written", ["5e0", "-.5", "1.5"])
def test_a_number_is_the_same_whichever_reader_reads_it(written: str) -> None:
    plain = with_line("depends_on: []", f"depends_on: []\n    estimate: {written}")
    assert examine(plain).loop == decode(plain)


def test_a_long_line_of_brackets_takes_no_longer_than_its_length() -> None:
    for piece in ("x {} ", "{x:y} ", " # [", "a | b "):
        data = with_line("goal: g", f'goal: "{piece * 40_000}"')
        assert decode(data).objective.goal == piece * 40_000


def test_a_number_too_long_to_be_printed_is_an_error() -> None:
    assert errors_of(with_line("iteration: 0", "iteration: 0x" + "9" * 5000))


def test_many_findings_are_found_in_their_places_quickly() -> None:
    nowhere = "".join(f"  Z{number}: {{summary: s}}\n" for number in range(5_000))
    found = examine(with_line("bindings: {}\n", f"bindings:\n{nowhere}")).errors
    assert len(found) == 5_000
    assert found[-1].line == 5_020
