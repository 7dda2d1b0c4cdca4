"""The only error boundary: expected errors become one or two lines and an exit code, bugs become a log to send."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from aotloop.cli.foreign import visible
from aotloop.errors import AotError, IllegalEvent, remedy

FAILED, USAGE, INTERRUPTED, NOBODY_READS = 1, 2, 130, 141


def guarded(run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    try:
        code = run(arguments)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = USAGE
    except click.ClickException as error:
        code = _report(error.format_message(), _where_to_look(error), arguments, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = _report("interrupted", None, arguments, INTERRUPTED)
    except BrokenPipeError:  # `aot log | head`: nothing to complain about, but no success of `aot verify` either
        _drop_output()
        code = NOBODY_READS
    except IllegalEvent as error:
        code = _report(error.why, error.hint, arguments)  # the command was typed, so nobody has to be told its event
    except AotError as error:
        code = _report(error.message, error.hint, arguments, error.exit_code)
    except OSError as error:
        code = _report_refusal(error, arguments)
    except Exception:  # noqa: BLE001 - the boundary
        code = _report_bug(arguments)
    return code


def may_colour() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# --- streams and signals -----------------------------------------------------------------------------------------


def settle_streams() -> None:
    """What a stream cannot show is escaped, and a closed one swallows what it gets."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - open until the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def settle_signals() -> None:
    """A request to end is an exception, so that whoever has started a process takes it along."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def _drop_output() -> None:
    """Nobody takes it any more; without this, Python would try once more at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# --- reports -----------------------------------------------------------------------------------------------------


def _report(message: str, hint: str | None, arguments: Sequence[str], code: int = FAILED) -> int:
    from aotloop.cli.output import say_json  # noqa: PLC0415

    if _wants_json(arguments):
        try:
            say_json({"error": message, "hint": hint}, indent=0)  # one line: it may come after lines of news
        except OSError:
            _drop_output()
    name = click.style("aot:", fg="red", bold=True) if may_colour() else "aot:"
    with suppress(OSError):
        click.echo(f"{name} {visible(message)}", err=True)
        if hint:
            click.echo(f"     {visible(hint)}", err=True)
    return code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Read from the words themselves: the mistake may be one that keeps them from being understood."""
    words = list(arguments)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _where_to_look(error: click.ClickException) -> str | None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{context.command_path} --help` says more." if context is not None else None


def _report_refusal(error: OSError, arguments: Sequence[str]) -> int:
    """The system would not let us: a full disk, a folder that may not be read, a file that is none."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None
    if where is None:  # a stream
        _drop_output()
    return _report(f"{where or 'the output'}: {error.strerror or error}", remedy(error), arguments)


def _innermost(error: BaseException | None) -> BaseException | None:
    """Of several at once, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _report_bug(arguments: Sequence[str]) -> int:
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    told = traceback.format_exc()
    message = f"this is a bug: {''.join(traceback.format_exception_only(_innermost(sys.exception()))).strip()}"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="aot-bug-", suffix=".log", delete=False, encoding="utf-8") as log:
            log.write(f"arguments: {list(arguments)}\npython: {sys.version}\n\n{told}")
    except OSError:
        return _report(message, told, arguments)
    return _report(message, f"Please report it with {log.name}", arguments)
