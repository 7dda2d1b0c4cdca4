"""Whatever a file looks like and whatever changes, the new file says what was meant, and little else changes."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.model import Binding, Correction, Loop, OrGroup, TrailEntry
from aotloop.errors import StateFileInvalid
from aotloop.statefile.document import Document
from aotloop.statefile.reader import decode, split
from aotloop.statefile.yaml import emitter
from tests import loops as made
from tests.loops import a_loop, as_file, atom

COMMENTED = """\
---
# before everything
objective:
  goal: "Log in"   # the goal
  base_case:
    type: command   # old form
    value: 'make test'
  background_intent: why
  deliverables: what
  definition_of_done: |
    all tests
    pass
  scope: [kept, as it is]   # not ours
  constraints:
    max_iterations: 20    # twenty
    max_parallel_agents: 3
    max_stall_count: 3

# --- control ---
control:
  status: running       # pending | running
  iteration: 5
  stall_count: 0
  prev_pending_count: 3
  stop_requested: false
  stop_reason: null     # none yet
  redirect_requested: false

atoms:
  # the first one
  - id: A1
    description: "User model"
    status: resolved   # done
    depends_on: []
    owner: ann

  # the second one
  - id: A2
    description: >-
      folded
      text
    status: in_progress
    depends_on: [A1]   # waits

  - {id: A3, description: flow, status: pending, depends_on: [A2], colour: red}
decompositions: []
or_groups: {}   # none
bindings:
  A1:
    summary: "made it"
    artifacts: ["a.py"]   # one
trail: []
corrections: []
---

# Original Prompt

status: not a status
"""


def revised(text: str, change: Any) -> str:
    document = Document(text.encode())
    loop = document.loop()
    change(loop)
    result = document.revise(loop)
    assert decode(result) == loop
    assert document.loop() == loop
    return result.decode()


def difference(before: str, after: str) -> list[str]:
    """Removed lines before added ones, change by change, as `git diff` shows them."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    return [f"{line[0]} {line[1:]}" for line in lines if line[:3] not in ("---", "+++") and line[0] in "+-"]


def set_atom(number: int, **changes: Any) -> Any:
    def change(loop: Loop) -> None:
        loop.atoms[number] = replace(loop.atoms[number], **changes)

    return change


def test_a_status_changes_one_line_and_keeps_its_comment() -> None:
    after = revised(COMMENTED, set_atom(0, status="pending"))
    assert difference(COMMENTED, after) == [
        "-     status: resolved   # done",
        "+     status: pending   # done",
    ]


def test_a_list_in_a_line_is_changed_in_place() -> None:
    after = revised(COMMENTED, set_atom(1, depends_on=("A1", "A3")))
    assert difference(COMMENTED, after) == [
        "-     depends_on: [A1]   # waits",
        "+     depends_on: [A1, A3]   # waits",
    ]


def test_a_new_key_goes_behind_the_others_of_its_entry() -> None:
    after = revised(COMMENTED, set_atom(0, attempts=1))
    assert difference(COMMENTED, after) == ["+     attempts: 1"]
    assert "owner: ann\n    attempts: 1\n" in after


def test_a_key_at_its_default_is_taken_out_again() -> None:
    once = revised(COMMENTED, set_atom(0, attempts=1))
    assert revised(once, set_atom(0, attempts=0)) == COMMENTED


def test_a_folded_text_is_replaced_whole() -> None:
    after = revised(COMMENTED, set_atom(1, description="short"))
    assert difference(COMMENTED, after) == [
        "-     description: >-",
        "-       folded",
        "-       text",
        "+     description: short",
    ]


def test_an_entry_in_flow_style_is_rewritten_with_its_unknown_keys() -> None:
    after = revised(COMMENTED, set_atom(2, status="in_progress"))
    changed = difference(COMMENTED, after)
    assert changed[0].startswith("-   - {id: A3")
    assert "+     colour: red" in changed
    assert "+     status: in_progress" in changed


def test_an_atom_is_appended_behind_the_last() -> None:
    after = revised(COMMENTED, lambda loop: loop.atoms.append(atom("A4", "A1")))
    assert difference(COMMENTED, after) == [
        "+   - id: A4",
        '+     description: "do A4"',
        "+     status: pending",
        "+     depends_on: [A1]",
    ]


def test_an_empty_section_keeps_its_comment_when_it_is_filled() -> None:
    group = OrGroup(choices=("A1",), selected="A1")
    after = revised(COMMENTED, lambda loop: loop.or_groups.update(g=group))
    assert "or_groups:   # none\n  g:\n    choices: [A1]\n    selected: A1\n    failed: []\n" in after


def test_a_removed_entry_leaves_the_comments_of_its_neighbours() -> None:
    after = revised(COMMENTED, lambda loop: loop.atoms.pop(0))
    assert "# the second one" in after
    assert "User model" not in after


def test_removing_the_last_binding_leaves_an_empty_mapping() -> None:
    after = revised(COMMENTED, lambda loop: loop.bindings.clear())
    assert "\nbindings: {}\ntrail: []\n" in after


def test_control_keeps_comments_and_unknown_keys_stay_in_the_objective() -> None:
    def change(loop: Loop) -> None:
        loop.control = replace(loop.control, stop_reason="enough: now", iteration=6, run_id="r1")
        limits = replace(loop.objective.constraints, max_iterations=30, max_cost_usd=2.5)
        loop.objective = replace(loop.objective, constraints=limits)

    after = revised(COMMENTED, change)
    assert difference(COMMENTED, after) == [
        "-     max_iterations: 20    # twenty",
        "+     max_iterations: 30    # twenty",
        "+     max_cost_usd: 2.5",
        "-   iteration: 5",
        "+   iteration: 6",
        "-   stop_reason: null     # none yet",
        '+   stop_reason: "enough: now"     # none yet',
        "+   run_id: r1",
    ]


def test_a_status_line_in_the_body_is_never_touched() -> None:
    after = revised(COMMENTED, lambda loop: setattr(loop, "control", replace(loop.control, status="stopped")))
    assert after.endswith("status: not a status\n")
    assert len(difference(COMMENTED, after)) == 2


def test_quotes_and_colons_in_a_summary_survive() -> None:
    summary = 'it\'s "done": 100% # really\nsecond line \\ {x} [y]'
    after = revised(COMMENTED, lambda loop: loop.bindings.update(A2=Binding(summary=summary)))
    assert yaml.safe_load(split(after.encode()).yaml)["bindings"]["A2"]["summary"] == summary


def test_windows_line_ends_stay() -> None:
    windows = COMMENTED.replace("\n", "\r\n")
    after = revised(windows, lambda loop: loop.atoms.append(atom("A4")))
    assert after.count("\n") == after.count("\r\n")
    assert after.replace("\r\n", "\n") == revised(COMMENTED, lambda loop: loop.atoms.append(atom("A4")))


def test_line_ends_that_differ_from_line_to_line_stay_as_they_are() -> None:
    mixed = COMMENTED.replace("\n", "\r\n", 20)
    after = revised(mixed, set_atom(0, status="pending"))
    assert difference(mixed, after) == [
        "-     status: resolved   # done",
        "+     status: pending   # done",
    ]


def test_a_byte_order_mark_stays() -> None:
    after = revised("\ufeff" + COMMENTED, set_atom(0, status="pending"))
    assert after.startswith("\ufeff---\n")


def test_lines_that_only_look_like_entries_do_not_mislead() -> None:
    tricky = COMMENTED.replace('"User model"', '"User\n  - id: A9\n    status: pending\n  model"')
    after = revised(tricky, set_atom(1, status="resolved"))
    assert "owner: ann" in after
    assert "status: running       # pending | running" in after


def test_anchors_are_read_and_survive_a_change_elsewhere() -> None:
    anchored = COMMENTED.replace("depends_on: []", "depends_on: &none []").replace(
        "depends_on: [A1]   # waits", "depends_on: *none"
    )
    after = revised(anchored, set_atom(0, status="pending"))
    assert difference(anchored, after) == [
        "-     status: resolved   # done",
        "+     status: pending   # done",
    ]


def test_a_change_that_would_break_an_alias_rewrites_the_file_instead() -> None:
    anchored = COMMENTED.replace("depends_on: []", "depends_on: &first [A1x]").replace(
        "depends_on: [A1]   # waits", "depends_on: *first"
    )
    after = revised(anchored, set_atom(0, depends_on=("A7",)))
    assert "owner: ann" in after
    assert "scope" in after


def test_lists_as_far_left_as_their_key_are_understood() -> None:
    left = yaml.safe_dump(emitter.to_data(a_loop(atom("A1"), atom("A2", "A1"))), sort_keys=False)
    assert "\natoms:\n- id" in left
    text = f"---\n{left}---\n"
    after = revised(text, set_atom(1, status="in_progress"))
    assert difference(text, after) == ["-   status: pending", "+   status: in_progress"]


def test_a_file_in_flow_style_throughout_can_be_changed() -> None:
    flow = "---\n" + yaml.safe_dump(emitter.to_data(a_loop(atom("A1"))), default_flow_style=True) + "---\nbody\n"
    after = revised(flow, set_atom(0, status="in_progress"))
    assert after.endswith("---\nbody\n")


def test_a_change_that_changes_nothing_leaves_any_style_alone() -> None:
    flow = "---\n" + yaml.safe_dump(emitter.to_data(a_loop(atom("A1"))), default_flow_style=True) + "---\nbody\n"
    assert revised(flow, lambda _: None) == flow
    assert revised(COMMENTED, lambda _: None) == COMMENTED


def test_missing_sections_are_added_when_they_are_needed() -> None:
    short = COMMENTED.replace("trail: []\ncorrections: []\n", "")
    entry = TrailEntry(reason="r", timestamp="t", type="failure", atom="A1")
    after = revised(short, lambda loop: loop.trail.append(entry))
    assert "\ntrail:\n  - or_group: null\n" in after


def test_many_changes_one_after_another_are_all_there() -> None:
    document = Document(COMMENTED.encode())
    for number in range(30):
        loop = document.loop()
        loop.control = replace(loop.control, iteration=number)
        loop.atoms.append(atom(f"B{number}", "A1"))
        if number % 3 == 0:
            loop.bindings[f"B{number}"] = Binding(summary=f"n {number}")
            loop.trail.append(TrailEntry(reason=str(number), timestamp="t", type="failure", atom="A1"))
        if number % 5 == 4:
            del loop.atoms[-2]
            loop.trail.clear()
        data = document.revise(loop)
        assert decode(data) == loop
    assert b"# the second one" in data


# --- properties --------------------------------------------------------------------------------------------------


def in_some_style(loop: Loop, style: int) -> bytes:
    data = emitter.to_data(loop)
    if style == 0:
        return as_file(loop)
    written = yaml.safe_dump(
        data,
        default_flow_style=(None, False, True)[style % 3],
        indent=(2, 4, 3)[style % 3],
        width=(80, 20, 1000)[style // 3 % 3],
        allow_unicode=style % 2 == 0,
        sort_keys=style % 5 == 0,
        default_style=(None, '"', "'")[style // 7 % 3],
    )
    if style % 4 == 3:
        written = written.replace("\n", "\r\n")
        return f"---\r\n{written}---\r\nbody\r\n".encode()
    return f"---\n{written}---\nbody\n".encode()


@given(made.loops)
@example(a_loop(atom("A1")))
def test_what_is_written_reads_back_as_the_same_loop(loop: Loop) -> None:
    assert decode(as_file(loop)) == loop


@given(made.loops)
def test_what_is_written_means_the_same_to_pyyaml(loop: Loop) -> None:
    yaml_text = as_file(loop, body="").decode().removeprefix("---\n").rpartition("---\n")[0]
    assert yaml.safe_load(yaml_text) == emitter.to_data(loop)


@given(made.loops, st.integers(0, 20))
def test_any_style_reads_as_the_same_loop(loop: Loop, style: int) -> None:
    data = in_some_style(loop, style)
    assume(yaml.safe_load(split(data).yaml) == emitter.to_data(loop))  # PyYAML does not write all it can read
    assert decode(data) == loop


@given(made.loops, made.loops, st.integers(0, 20), st.data())
def test_any_change_of_any_file_is_written_as_it_was_meant(
    old: Loop, donor: Loop, style: int, data: st.DataObject
) -> None:
    written = in_some_style(old, style)
    assume(yaml.safe_load(split(written).yaml) == emitter.to_data(old))
    document = Document(written)
    for _ in range(data.draw(st.integers(1, 3))):
        new = document.loop()
        for name in data.draw(st.sets(st.sampled_from(Loop.__struct_fields__), min_size=1, max_size=4)):
            value, other = getattr(new, name), getattr(donor, name)
            if isinstance(value, list):
                kept = data.draw(st.lists(st.sampled_from(value), unique_by=id)) if value else []
                ids = {getattr(one, "id", None) for one in kept}
                more = [one for one in other if getattr(one, "id", "") not in ids]
                setattr(new, name, [*kept, *more])
            elif isinstance(value, dict):
                value.update(other)
                for key in data.draw(st.sets(st.sampled_from(sorted(value)))) if value else ():
                    del value[key]
            else:
                setattr(new, name, other)
        result = document.revise(new)
        assert decode(result) == new
        assert result.endswith((b"body\n", b"body\r\n", b"Please.\n"))


@given(made.loops, st.data())
def test_a_change_of_one_atom_touches_no_other_line(loop: Loop, data: st.DataObject) -> None:
    if not loop.atoms:
        return
    text = as_file(loop).decode()
    number = data.draw(st.integers(0, len(loop.atoms) - 1))
    document = Document(text.encode())
    new = document.loop()
    new.atoms[number] = replace(new.atoms[number], attempts=7)
    after = document.revise(new).decode()
    changed = [line for line in difference(text, after) if line.strip("+- \r")]
    assert len(changed) <= 2
    assert all("attempts" in line for line in changed)


def test_text_that_no_file_can_hold_is_refused() -> None:
    document = Document(COMMENTED.encode())
    loop = document.loop()
    loop.corrections.append(
        Correction(timestamp="t", type="dag_adjustment", description="lone surrogate \udc80", trail_cleared=False)
    )
    with pytest.raises(StateFileInvalid, match="cannot be written"):
        document.revise(loop)


def test_text_that_looks_like_a_number_survives_a_rewrite() -> None:
    text = COMMENTED.replace("{id: A3, description: flow,", "{id: A3, description: 1.10,")
    after = revised(text, set_atom(2, status="in_progress"))
    assert 'description: "1.10"' in after


def test_aliases_without_end_in_unknown_keys_are_refused_when_they_would_have_to_be_written() -> None:
    loop = emitter.to_data(a_loop(atom("A1")))
    flow = "---\n" + yaml.safe_dump(loop, default_flow_style=True).replace("{atoms:", "{zz: &a [*a], atoms:") + "---\n"
    document = Document(flow.encode())
    changed = document.loop()
    changed.atoms[0] = replace(changed.atoms[0], status="in_progress")
    with pytest.raises(StateFileInvalid, match="expand"):
        document.revise(changed)
