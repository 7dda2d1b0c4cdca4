"""The file of a phase loop: every field, older versions, whatever others wrote into it, whoever writes meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from inspect import getsource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.phases.events import ErrorMet, IterationEnded
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PHASES, PhaseLoop
from aotloop.errors import StateFileBusy, StateFileInvalid, StateFileMissing, Unavailable
from aotloop.statefile.locate import PHASE_FILE
from aotloop.statefile.phases.phase_reader import decode, encode
from aotloop.statefile.phases.phase_store import PhaseStore
from tests.core.phases.loops import AT, LATER, a_phase_loop, filed
from tests.patience import give_way

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden"
V1 = (GOLDEN / "autonomous-loop-v1.json").read_bytes()
V2 = (GOLDEN / "autonomous-loop-v2.json").read_bytes()
OURS = {"status", "stop_reason", "phase_started_at", "session_id"}


def with_keys(data: bytes = V2, **given: Any) -> bytes:
    return json.dumps({**json.loads(data), **given}).encode()


def without_keys(*keys: str) -> bytes:
    return json.dumps({key: value for key, value in json.loads(V2).items() if key not in keys}).encode()


def refusal_of(data: bytes) -> StateFileInvalid:
    with pytest.raises(StateFileInvalid) as caught:
        decode(data)
    assert caught.value.findings
    assert "Nothing was changed" in str(caught.value)
    return caught.value


def count_up(loop: PhaseLoop) -> tuple[PhaseLoop, int]:
    after = replace(loop, global_iteration=loop.global_iteration + 1)
    return after, after.global_iteration


@pytest.fixture
def path(project: Path) -> Path:
    file = project / PHASE_FILE
    file.write_bytes(V2)
    return file


# --- fields and versions -----------------------------------------------------------------------------------------


def test_the_example_of_the_schema_is_read_as_it_stands() -> None:
    loop = decode(V2)
    assert (loop.version, loop.phase, loop.global_iteration, loop.max_phase_iterations) == (2, "work", 9, 10)
    assert loop.phases_completed == ("brainstorm", "plan", "spec_test", "deepen")
    assert loop.artifacts.acceptance_tests_file == "tests/acceptance/2026-02-13-auth-acceptance.rb"
    assert [one.git_sha for one in loop.receipts] == ["a1b2c3d", "d4e5f6g", "e1f2g3h", "h7i8j9k"]
    assert loop.checkpoints[0].summary.startswith("Wrote 7 acceptance tests")
    assert (loop.status, loop.session_id, loop.phase_started_at) == ("running", None, None)


def test_what_is_left_out_has_the_default_of_the_schema() -> None:
    loop = decode(b'{"feature": "x", "phase": "plan", "started_at": "a", "last_updated": "b"}')
    assert json.loads(encode(loop)) == {
        "version": 2,
        "feature": "x",
        "phase": "plan",
        "phase_iteration": 0,
        "global_iteration": 0,
        "max_iterations": 50,
        "max_phase_iterations": 10,
        "fix_review_cycles": 0,
        "max_fix_cycles": 3,
        "phases_completed": [],
        "artifacts": {
            "brainstorm_file": None,
            "plan_file": None,
            "acceptance_tests_file": None,
            "progress_file": None,
            "pr_url": None,
            "branch": None,
        },
        "receipts": [],
        "checkpoints": [],
        "errors": [],
        "budget_limit_usd": 20,
        "completion_promise": "SHIPPED",
        "skip_brainstorm": False,
        "skip_test_review": False,
        "started_at": "a",
        "last_updated": "b",
    }


@pytest.mark.parametrize("key", ["feature", "phase", "started_at", "last_updated"])
def test_what_has_no_default_is_needed(key: str) -> None:
    assert f"{key}: is missing" in str(refusal_of(without_keys(key)))


def test_keys_of_ours_are_written_only_when_they_say_something() -> None:
    assert not OURS & set(json.loads(encode(decode(V2), V2)))
    loop = replace(decode(V2), session_id="s", phase_started_at=LATER, status="stopped", stop_reason="user: stop")
    data = encode(loop, V2)
    assert set(json.loads(data)) >= OURS
    assert decode(data) == loop
    again = encode(replace(loop, session_id=None, status="running", stop_reason=None), data)
    assert OURS & set(json.loads(again)) == {"phase_started_at"}


def test_a_loop_in_any_state_is_read_as_it_was_written() -> None:
    loop = a_phase_loop()
    for _ in range(30):
        loop, _ = advance(loop, ErrorMet(at=LATER, message='quotes " and \\ and\nlines, ünïcode \u2028 😀'))
        assert decode(encode(loop)) == loop
        loop, _ = advance(
            loop, filed(loop.phase, open_findings=1) if loop.status == "running" else ErrorMet(at=AT, message="")
        )
    assert decode(encode(loop)) == loop


def test_a_file_of_version_1_goes_back_to_where_acceptance_tests_are_written() -> None:
    loop = decode(V1)
    assert (loop.version, loop.phase, loop.phase_iteration, loop.global_iteration) == (2, "spec_test", 0, 9)
    assert loop.phases_completed == ("brainstorm", "plan")
    assert [one.phase for one in loop.receipts] == ["brainstorm", "plan"]
    assert loop.errors[-1].message == "migrated from version 1 in work: the acceptance tests come first"
    assert loop.errors[-1].timestamp == loop.last_updated
    assert (loop.checkpoints, loop.skip_test_review, loop.artifacts.progress_file) == ((), False, None)


@pytest.mark.parametrize("phase", ["brainstorm", "plan"])
def test_a_file_of_version_1_before_that_stays_where_it_is(phase: str) -> None:
    loop = decode(with_keys(V1, phase=phase))
    assert (loop.version, loop.phase, loop.errors) == (2, phase, ())


def test_migrating_is_written_with_the_first_change_and_only_then(path: Path) -> None:
    path.write_bytes(V1)
    store = PhaseStore(str(path))
    migrated = store.load()
    store.update(lambda loop: (loop, None))
    assert path.read_bytes() == V1
    store.update(count_up)
    assert json.loads(path.read_bytes())["version"] == 2
    assert store.load() == replace(migrated, global_iteration=10)


@pytest.mark.parametrize("data", [V1, V2])
def test_a_loop_that_was_shipped_does_not_begin_again(data: bytes) -> None:
    loop = decode(with_keys(data, phase="ship", phases_completed=list(PHASES)))
    assert loop.status == "completed"


# --- what others wrote -------------------------------------------------------------------------------------------


def test_unknown_keys_and_their_order_survive(path: Path) -> None:
    data = json.loads(V2)
    data = {"zeta": [1, {"deep": None}], **data, "alpha": {"b": 1, "a": 2.5, "big": 12345678901234567890}}
    data["artifacts"] = {"notes": "x", **data["artifacts"]}
    data["receipts"][1]["reviewer"] = "me"
    data["errors"] = [{"who": "other", "phase": "work", "message": "m", "iteration": 1, "timestamp": "t"}]
    path.write_text(json.dumps(data))
    PhaseStore(str(path)).update(lambda loop: advance(loop, ErrorMet(at="now", message="n")))
    after = json.loads(path.read_bytes())
    assert list(after) == list(data)
    assert list(after["artifacts"]) == list(data["artifacts"])
    assert after["receipts"] == data["receipts"]
    assert after["errors"][0] == data["errors"][0]
    assert after["errors"][1]["message"] == "n"
    assert {key for key in data if after[key] != data[key]} == {"errors", "last_updated"}


def test_an_entry_keeps_what_is_not_ours_when_another_one_is_taken_out() -> None:
    data = json.loads(V2)
    for number, entry in enumerate(data["receipts"]):
        entry["n"] = number
    before = json.dumps(data).encode()
    loop = decode(before)
    after = json.loads(encode(replace(loop, receipts=loop.receipts[1:]), before))
    assert after["receipts"] == data["receipts"][1:]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_what_an_editor_adds_is_read_and_kept(path: Path, mark: bytes, newline: bytes) -> None:
    path.write_bytes(mark + V2.replace(b"\n", newline))
    assert PhaseStore(str(path)).update(count_up) == 10
    written = path.read_bytes()
    assert written.startswith(mark + b"{" + newline)
    assert written.count(b"\r\n") == (written.count(b"\n") if newline == b"\r\n" else 0)
    assert decode(written).global_iteration == 10


HOSTILE = {
    "nothing": (b"", "line 1, column 1: not readable as JSON"),
    "half a file": (V2[: len(V2) // 2], "line 2"),
    "a list": (b"[]", "expected an object"),
    "text": (b'"work"', "expected an object"),
    "null": (b"null", "expected an object"),
    "another program's": (b'{"name": "x", "dependencies": {}}', "feature: is missing"),
    "YAML": (b"feature: x\nphase: plan\n", "not readable as JSON"),
    "not UTF-8": (V2.replace(b"JWT", b"\xff\xfe"), "line 3, column 44: byte 0xff is not valid UTF-8"),
    "not UTF-8, with a mark": (b"\xef\xbb\xbf{\n\xff}", "line 2, column 1: byte 0xff"),
    "NUL": (V2.replace(b"JWT", b"\0"), "line 3"),
    "NaN": (V2.replace(b'"budget_limit_usd": 20', b'"budget_limit_usd": NaN'), "NaN is no number"),
    "Infinity": (V2.replace(b'"budget_limit_usd": 20', b'"x": -Infinity'), "-Infinity is no number"),
    "out of range": (V2.replace(b'"budget_limit_usd": 20', b'"x": 1e999'), "'1e999' is out of range"),
    "a long number": (V2.replace(b'"budget_limit_usd": 20', b'"x": 1' + b"0" * 9999), "a number is too long"),
    "a key twice": (V2.replace(b'"version": 2', b'"version": 2, "phase": "ship"'), "the key 'phase' occurs twice"),
    "a deep key twice": (V2.replace(b'"branch": ', b'"branch": "x", "branch": '), "the key 'branch' occurs twice"),
    "many keys, the last twice": (
        b"{" + b",".join(b'"%d":0' % number for number in range(200_000)) + b',"199999":1}',
        "the key '199999' occurs twice",
    ),
    "half a surrogate": (V2.replace(b"JWT", b"\\ud800"), "half of a surrogate pair"),
    "deep lists": (b"[" * 200_000, "nested deeper than 100 levels"),
    "deep objects": (b'{"a":' * 200_000, "nested deeper than 100 levels"),
    "deep in an unknown key": (with_keys()[:-1] + b', "x": ' + b"[" * 101 + b"]" * 101 + b"}", "nested deeper"),
    "huge": (b" " * (16 * 1024 * 1024 + 1), "larger than 16 MiB"),
    "more behind it": (V2 + V2, "not readable as JSON"),
    "a newer version": (with_keys(version=3), "version: expected 1 or 2, found 3"),
    "version 0": (with_keys(version=0), "version: expected 1 or 2, found 0"),
    "a version that is text": (with_keys(version="2"), "version: expected 1 or 2, found 2"),
    "a version that is true": (with_keys(version=True), "version: expected 1 or 2, found True"),
    "an unknown phase": (with_keys(phase="deploy"), "phase: expected one of brainstorm"),
    "an unknown completed phase": (with_keys(phases_completed=["deploy"]), "phases_completed[0]: expected one of"),
    "a counter that is text": (with_keys(max_iterations="50"), "max_iterations"),
    "a counter that is a list": (with_keys(phase_iteration=[1]), "phase_iteration: expected a whole number"),
    "a fraction of an iteration": (with_keys(global_iteration=1.5), "global_iteration: expected a whole number"),
    "a negative counter": (with_keys(global_iteration=-1), "global_iteration: -1 is less than 0"),
    "no iterations": (with_keys(max_iterations=0), "max_iterations: 0 is less than 1"),
    "an empty promise": (with_keys(completion_promise=""), "completion_promise: is empty"),
    "text for true": (with_keys(skip_test_review="true"), "skip_test_review"),
    "artifacts as a list": (with_keys(artifacts=[]), "artifacts: expected a mapping"),
    "receipts as an object": (with_keys(receipts={}), "receipts: expected a list"),
    "a number for a path": (V2.replace(b'"feat/auth-system"', b"5"), "line 18, column 15: artifacts.branch: expected"),
    "a number for a sha": (V2.replace(b'"h7i8j9k"', b"5"), "receipts[3].git_sha: expected"),
    "half a receipt": (with_keys(receipts=[{"phase": "plan"}]), "receipts[0].artifact: is missing"),
    "an unknown status": (with_keys(status="done"), "status: expected one of cancelled, completed, running"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_cannot_be_understood_is_a_clear_error_and_stays_as_it_is(path: Path, name: str) -> None:
    data, why = HOSTILE[name]
    path.write_bytes(data)
    store = PhaseStore(str(path))
    for action in (store.load, lambda: store.update(count_up)):
        with pytest.raises(StateFileInvalid) as caught:
            action()
        assert why in caught.value.message
        assert caught.value.message.startswith(str(path))
        assert "Nothing was changed" in str(caught.value)
        assert len(str(caught.value)) < 1500
    assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_mistakes_are_told_with_their_lines_all_at_once() -> None:
    data = V2.replace(b'"max_iterations": 50', b'"max_iterations": "many"').replace(
        b'"phase": "work"', b'"phase": "wrk"'
    )
    findings = refusal_of(data).findings
    assert [str(finding).split(": expected")[0] for finding in findings] == [
        "line 4, column 12: phase",
        "line 7, column 21: max_iterations",
    ]


# --- generated ---------------------------------------------------------------------------------------------------

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SNIPPETS = [b"\n", b"\t", b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\x00", b"\xff", b"\r\n", b"null", b"NaN",
            b"1e400", b"-", b"0", b"true", b"\\ud800", b'"phase": "ship",', b"\xef\xbb\xbf", b"//"]  # fmt: skip


def read_or_refused(data: bytes) -> PhaseLoop | None:
    try:
        return decode(data)
    except StateFileInvalid as error:
        refused = error
    assert refused.findings
    assert "Nothing was changed" in str(refused)
    return None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_refused(data)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(SNIPPETS), st.integers(0, 12)), min_size=1, max_size=4))
def test_a_mutated_file_is_read_as_json_reads_it_or_refused(mutations: list[tuple[float, bytes, int]]) -> None:
    data = V2
    for where, snippet, length in mutations:
        place = int(where * len(data))
        data = data[:place] + snippet + data[place + length :]
    loop = read_or_refused(data)
    if loop is not None:
        meant = json.loads(data.removeprefix(b"\xef\xbb\xbf"))
        assert (loop.feature, loop.phase) == (meant["feature"], meant["phase"])
        after = replace(loop, global_iteration=loop.global_iteration + 1)
        assert decode(encode(after, data)) == after
        assert set(meant) <= set(json.loads(encode(after, data).removeprefix(b"\xef\xbb\xbf")))


@given(st.sampled_from(sorted(json.loads(V2))), PLAIN)
def test_any_value_in_any_place_is_read_or_refused(key: str, value: Any) -> None:
    loop = read_or_refused(with_keys(**{key: value}))
    if loop is not None:
        assert decode(encode(loop)) == loop


@given(st.dictionaries(st.text().filter(lambda key: key not in {*PhaseLoop.__struct_fields__}), PLAIN, max_size=4))
def test_any_unknown_keys_survive(unknown: dict[str, Any]) -> None:
    data = with_keys(**unknown)
    after, _ = count_up(decode(data))
    written = json.loads(encode(after, data))
    assert {key: written[key] for key in unknown} == unknown
    assert list(written) == list(json.loads(data))


# --- writing -----------------------------------------------------------------------------------------------------


def test_a_new_file_is_made_and_not_written_over_an_old_one(project: Path) -> None:
    store = PhaseStore(str(project / PHASE_FILE))
    with pytest.raises(StateFileMissing, match="No phase loop was begun here"):
        store.load()
    store.create(a_phase_loop())
    assert store.load() == a_phase_loop()
    with pytest.raises(Unavailable, match="exists already"):
        store.create(a_phase_loop(feature="another"))
    assert store.load().feature == "log in"
    store.create(a_phase_loop(feature="another"), overwrite=True)
    assert store.load().feature == "another"


def test_a_loop_that_could_not_be_read_is_not_written(project: Path) -> None:
    with pytest.raises(StateFileInvalid, match="max_iterations"):
        PhaseStore(str(project / PHASE_FILE)).create(a_phase_loop(max_iterations=0))
    assert not (project / PHASE_FILE).exists()


def test_a_change_that_raises_or_changes_nothing_does_not_touch_the_file(path: Path) -> None:
    before = path.stat()
    store = PhaseStore(str(path))
    store.update(lambda loop: (loop, None))
    path.write_bytes(V2)
    with pytest.raises(ZeroDivisionError):
        store.update(lambda loop: (loop, 1 // 0))
    assert path.stat().st_ino == before.st_ino
    assert path.read_bytes() == V2


def test_an_edit_saved_between_reading_and_writing_is_kept(path: Path) -> None:
    seen: list[str] = []

    def change(loop: PhaseLoop) -> tuple[PhaseLoop, int]:
        if not seen:
            path.write_bytes(V2.replace(b"Add user", b"Remove user"))
        seen.append(loop.feature[:3])
        return count_up(loop)

    PhaseStore(str(path)).update(change)
    assert seen == ["Add", "Rem"]
    assert decode(path.read_bytes()).feature.startswith("Remove")


def test_a_file_that_never_stands_still_is_given_up(path: Path) -> None:
    def change(loop: PhaseLoop) -> tuple[PhaseLoop, int]:
        path.write_bytes(path.read_bytes() + b" ")
        return count_up(loop)

    with pytest.raises(StateFileBusy, match="keeps changing"):
        PhaseStore(str(path)).update(change)
    assert decode(path.read_bytes()).global_iteration == 9


def test_what_is_no_regular_file_is_neither_read_nor_replaced(project: Path) -> None:
    pipe = project / PHASE_FILE
    os.mkfifo(pipe)
    with pytest.raises(Unavailable, match="not a regular file"):
        PhaseStore(str(pipe)).update(count_up)
    assert pipe.is_fifo()


def test_threads_lose_no_update(path: Path) -> None:
    def work() -> None:
        for _ in range(20):
            PhaseStore(str(path)).update(count_up)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert decode(path.read_bytes()).global_iteration == 9 + 120


WRITER = f"""
from __future__ import annotations
import sys
from msgspec.structs import replace
from aotloop.statefile.phases.phase_store import PhaseStore
{getsource(count_up)}
store = PhaseStore(sys.argv[1])
for _ in range(int(sys.argv[2])): print(store.update(count_up), flush=True)
"""


def a_writer(path: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True)


def test_processes_lose_no_update(path: Path) -> None:
    writers = [a_writer(path, 25) for _ in range(3)]
    said = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert sorted(said) == list(range(10, 85))
    assert decode(path.read_bytes()).global_iteration == 84


def test_killed_at_any_instant_it_leaves_a_whole_file(path: Path) -> None:
    for turn in range(6):
        started = decode(path.read_bytes()).global_iteration
        with a_writer(path, 10**6) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            give_way(0.004 * turn)
            writer.send_signal(signal.SIGKILL)
            said = [started + 1, *(int(line) for line in writer.stdout.read().split())]
        assert decode(path.read_bytes()).global_iteration in (said[-1], said[-1] + 1)
    PhaseStore(str(path)).update(count_up)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_the_machine_and_the_store_fit_together(path: Path) -> None:
    store = PhaseStore(str(path))
    effects = store.update(lambda loop: advance(loop, IterationEnded(at=LATER)))
    assert [type(effect).__name__ for effect in effects] == ["GoOn"]
    assert (store.load().phase_iteration, store.load().last_updated) == (3, LATER)
