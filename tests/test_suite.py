"""No test is decided by how fast the machine is: tests wait for conditions, with one patience, and compare no times."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import warm

TESTS = Path(__file__).parent
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}
WAITS = {"communicate", "join", "wait"}

CLOCK_READERS = {
    "patience.py": "the one place that looks at a clock",
    "warm.py": "keeps the patience that it is given",
    "modelserver/test_delivery.py": "a service names the time of day, which lies between two looks at it",
    "modelserver/test_server.py": "a request is noted with its time, which lies between two looks at it",
    "scripts/atoms/test_integrate.py": "waits until git gives a commit another second",
}
SLEEPERS = {
    "patience.py": "the one place that waits",
    "modelserver/delivering.py": "a model that speaks slowly",
}


def found_in(text: str) -> list[str]:
    """What is wrong with a module of tests, and of which kind."""
    tree = ast.parse(text)
    timed = _timed(tree) if "time." in text else set()
    return [fault for node in ast.walk(tree) for fault in _faults(node, timed)]


def _faults(node: ast.AST, timed: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Compare) and _reads_clock(node, timed):
        yield f"clock: line {node.lineno} compares times"
    if isinstance(node, ast.ImportFrom) and node.module == "time":
        yield f"clock: line {node.lineno} hides where a clock is read"
    if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == "PATIENCE" for one in node.targets):
        yield f"patience: line {node.lineno} has a patience of its own"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "sleep" and not _is_nothing(node.args[0]):
            yield f"sleep: line {node.lineno} waits for time, not for a condition"
        if _is_impatient(node, node.func):
            yield f"patience: line {node.lineno} waits a number of seconds, not PATIENCE"


def _timed(tree: ast.Module) -> set[str]:
    """Names of what is made of times: variables, and functions that return one."""
    made = [(name, value) for node in ast.walk(tree) for name, value in _made_by(node)]
    timed: set[str] = set()
    while more := {name for name, value in made if name not in timed and _reads_clock(value, timed)}:
        timed |= more
    return timed


def _made_by(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for one in ast.walk(target):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    yield one.id, node.value
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                yield node.name, inner.value


def _reads_clock(node: ast.AST, timed: set[str]) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in timed:
            return True
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            owner, name = one.func.value, one.func.attr.removesuffix("_ns")
            if name in CLOCKS and isinstance(owner, ast.Name) and owner.id == "time":
                return True
    return False


def _is_impatient(call: ast.Call, method: ast.Attribute) -> bool:
    ours = method.attr in WAITS or (isinstance(method.value, ast.Name) and method.value.id == "subprocess")
    seconds = [word.value for word in call.keywords if word.arg == "timeout"]
    seconds += call.args[:1] if method.attr in {"join", "wait"} else []
    return ours and any(isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in seconds)


def _is_nothing(argument: ast.expr) -> bool:
    """As in `asyncio.sleep(0)`: a turn for others."""
    return isinstance(argument, ast.Constant) and argument.value == 0


def test_no_test_compares_times_or_sleeps_or_has_a_patience_of_its_own() -> None:
    allowed = {"clock": CLOCK_READERS, "sleep": SLEEPERS, "patience": {"patience.py": "it is this one"}}
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        name = str(path.relative_to(TESTS))
        for fault in found_in(path.read_text()):
            kind = fault.partition(":")[0]
            found += [f"tests/{name}: {fault}"] if name not in allowed[kind] else []
    assert found == []


def test_every_exception_is_needed() -> None:
    for kind, names in (("clock", CLOCK_READERS), ("sleep", SLEEPERS)):
        needed = [name for name in names if any(one.startswith(kind) for one in found_in((TESTS / name).read_text()))]
        assert needed == list(names)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("clock", "assert time.monotonic() - began < 1"),
        ("clock", "def test():\n    began = time.perf_counter()\n    work()\n    assert began > 3"),
        ("clock", "def took():\n    began = time.time()\n    return time.time() - began\nassert took() < 5"),
        ("clock", "one, two = took(1), time.process_time()\nwhile two < 7: pass"),
        ("clock", "from time import monotonic"),
        ("sleep", "time.sleep(0.3)"),
        ("sleep", "async def test():\n    await asyncio.sleep(pause)"),
        ("patience", "PATIENCE = 20.0"),
        ("patience", "process.wait(10)"),
        ("patience", "process.communicate(timeout=30)"),
        ("patience", "subprocess.run(command, timeout=60, check=True)"),
    ],
)
def test_what_is_not_allowed_is_found(kind: str, text: str) -> None:
    assert {fault.partition(":")[0] for fault in found_in(text)} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "before = time.time() - 7300\nos.utime(path, (before, before))",
        "async def test():\n    await asyncio.sleep(0)",
        "until(path.exists)\nprocess.wait(PATIENCE)",
        "assert run(command, timeout=0.3).timed_out",
        "', '.join(words)",
    ],
)
def test_what_is_allowed_is_not(text: str) -> None:
    assert found_in(text) == []


DEAF = """
import os, signal
for one in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(one, signal.SIG_IGN)
import tests.conftest
print([one.name for one in signal.Signals if signal.getsignal(one) is signal.SIG_IGN])
"""


def test_what_the_tests_start_hears_ctrl_c_even_if_they_run_in_the_background() -> None:
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", DEAF], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "['SIGPIPE', 'SIGXFSZ']"


def test_a_forked_process_ends_with_the_one_that_stands_for_it() -> None:
    console = warm.program_of("code")
    with subprocess.Popen(console, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as client:
        assert client.stderr is not None
        assert client.stderr.read(6) == b"Python"  # it has begun, and waits for its input
        client.kill()
        client.stderr.read()  # until no process has it open
