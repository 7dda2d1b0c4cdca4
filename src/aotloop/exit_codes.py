"""The only table of exit codes: their meanings, their remedies, and the code for each stop reason of a loop."""

from __future__ import annotations

from collections.abc import Mapping

DONE, FAILED, USAGE, NOT_READY, EXHAUSTED, LIMIT, PERSON_NEEDED, STOPPED, WITH_GAPS = range(9)
UNDECIDED = PERSON_NEEDED
"""For `aot verify`: only items that a person has to confirm are open."""
BY_SIGNAL = 128
"""The number of the signal is added."""
INTERRUPTED, PIPE_CLOSED, TERMINATED = BY_SIGNAL + 2, BY_SIGNAL + 13, BY_SIGNAL + 15

MEANINGS: dict[int, str] = {
    DONE: "success; for `aot run` and `aot verify`: the base case holds at this commit",
    FAILED: "failure; the message says why; for `aot verify`: the base case does not hold",
    USAGE: "the command line was not understood",
    NOT_READY: "the loop may not start: the gate is not ready, the file is invalid, or another process runs it",
    EXHAUSTED: "stalled or exhausted: there was no progress, or nothing more can be tried",
    LIMIT: "a limit was reached: iterations, time or cost",
    PERSON_NEEDED: "a person is needed: something is undecided or blocked",
    STOPPED: "a person stopped the loop",
    WITH_GAPS: "`aot ship`: shipped, but a phase was left by force or skipped, or no person looked at the tests",
    INTERRUPTED: "interrupted (Ctrl-C)",
    PIPE_CLOSED: "the reader closed the pipe, for example `head`",
    TERMINATED: "terminated (SIGTERM)",
}

REMEDIES: dict[int, str] = {
    FAILED: "follow the second line of the message; `aot doctor` finds missing programs and other problems",
    USAGE: "add `--help` to the same command",
    NOT_READY: "`aot gate` and `aot validate` name what is missing, and the line; `aot watch` shows a running loop",
    EXHAUSTED: "`aot log` shows what was tried; `aot redirect` adds an alternative, `aot align` changes the objective",
    LIMIT: "`aot redirect --set max_iterations=…`, then `aot run` continues",
    PERSON_NEEDED: "answer with `aot confirm`, or follow the stop reason",
    STOPPED: "`aot run` continues",
    WITH_GAPS: "the last message and `aot ship status` name the gap; do by hand what it would have proved",
    INTERRUPTED: "`aot run` continues",
    TERMINATED: "`aot run` continues",
}

OF_REASONS: dict[str, int] = {
    "limit": LIMIT,
    "stalled": EXHAUSTED,
    "exhausted": EXHAUSTED,
    "blocked": PERSON_NEEDED,
    "user": STOPPED,
    "error": FAILED,
}
"""Keys are the first words of stop reasons."""

_SHORT: dict[int, str] = {
    FAILED: "an error",
    NOT_READY: "not ready, or the file is invalid",
    EXHAUSTED: "stalled or exhausted",
    LIMIT: "a limit was reached",
    PERSON_NEEDED: "a person is needed",
    STOPPED: "stopped by a person",
    INTERRUPTED: "interrupted",
}
_ROWS = ((DONE, NOT_READY, LIMIT), (FAILED, EXHAUSTED, PERSON_NEEDED), (STOPPED, INTERRUPTED))


def code_of(reason: str | None) -> int:
    """The exit code for this stop reason; None: the loop reached its end."""
    return DONE if reason is None else OF_REASONS.get(reason.partition(":")[0], FAILED)


def help_table(done: str, more: Mapping[int, str] | None = None) -> str:
    """The table in the help of a command that drives a loop; `done` is the meaning of 0 there, `more` are its own."""
    meanings = {**_SHORT, DONE: done, **(more or {})}
    rows = (*_ROWS[:-1], (*_ROWS[-1], *(more or ())))
    cells = [[f"{code} {meanings[code]}" for code in row] for row in rows]
    widths = [max(len(row[column]) for row in cells if column < len(row)) for column in range(len(_ROWS[0]))]
    lines = ["    ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in cells]
    return "\n".join(["\b", "Exit codes:", *(f"  {line.rstrip()}" for line in lines)])
