"""The only error boundary: expected errors become one or two lines and an exit code; bugs become a log to send."""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from aotloop.errors import AotError, IllegalEvent, remedy
from aotloop.exit_codes import BY_SIGNAL, FAILED, INTERRUPTED, PIPE_CLOSED, USAGE
from aotloop.text.sanitize import visible


def guarded(run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    try:
        code = run(arguments)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = USAGE
    except click.ClickException as error:
        code = _report(_in_words(error.format_message()), _where_to_look(error), arguments, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = _report("interrupted", None, arguments, INTERRUPTED)
    except BrokenPipeError:  # `aot log | head` is no error, but not a success either
        _drop_output()
        code = PIPE_CLOSED
    except IllegalEvent as error:
        code = _report(error.why, error.hint, arguments)  # the user typed the command: the event's name adds nothing
    except AotError as error:
        code = _report(error.message, error.hint, arguments, error.exit_code)
    except OSError as error:
        code = _report_refusal(error, arguments)
    except Exception as error:  # noqa: BLE001 - the boundary
        code = _report_group(error, arguments) if _is_expected(error) else _report_bug(arguments)
    _drop_unread_messages()
    return code


def end_at_once(code: int) -> NoReturn:
    """Without the clean-up of the interpreter: it takes as long as a quarter of a short command.

    And threads of Temporal's library may crash it then (sdk-python#300). By now only the exit code is left to say.
    """
    atexit._run_exitfuncs()  # noqa: SLF001 - whose names the library itself relies on
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def may_colour() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# --- streams and signals -----------------------------------------------------------------------------------------


def settle_streams() -> None:
    """Escapes characters that a stream cannot show, and replaces a closed stream by the null device."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - open until the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def settle_signals() -> None:
    """Turns a request to end into an exception, so that our code ends the processes that it started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: object) -> NoReturn:
    sys.exit(BY_SIGNAL + number)


def _drop_output() -> None:
    """The reader is gone; without this, Python would write again at its end and report an error."""
    _redirect_to_nowhere(sys.stdout.fileno())


def _drop_unread_messages() -> None:
    """With `2>&1`, the reader of the messages is gone, too."""
    try:
        sys.stderr.flush()
    except OSError:
        _redirect_to_nowhere(sys.stderr.fileno())


def _redirect_to_nowhere(stream: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


# --- reports -----------------------------------------------------------------------------------------------------


def _report(message: str, hint: str | None, arguments: Sequence[str], code: int = FAILED) -> int:
    from aotloop.cli.ui.output import say_json  # noqa: PLC0415

    if _wants_json(arguments):
        try:
            say_json({"error": message, "hint": hint}, indent=0)  # one line: it may follow lines of events
        except OSError:
            _drop_output()
    name = click.style("aot:", fg="red", bold=True) if may_colour() else "aot:"
    with suppress(OSError):
        click.echo(f"{name} {visible(message)}", err=True)
        if hint:
            click.echo(f"     {visible(hint)}", err=True)
    return code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Read from the raw arguments, because the mistake may prevent parsing them."""
    words = list(arguments)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _in_words(message: str) -> str:
    """The library's message on one line, with words instead of a formula."""
    line = " ".join(message.split())
    line = re.sub(r"is not in the range x>=(\d+)\.", r"is too small: the least is \1.", line)
    return re.sub(r"is not in the range (\d+)<=x<=(\d+)\.", r"is not between \1 and \2.", line)


def _where_to_look(error: click.ClickException) -> str | None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{context.command_path} --help` shows its use." if context is not None else None


def _report_refusal(error: OSError, arguments: Sequence[str]) -> int:
    """The system refused: for example a full disk, a folder without permission, a missing file."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None
    if where is None:  # a stream
        _drop_output()
    return _report(f"{where or 'the output'}: {error.strerror or error}", remedy(error), arguments)


def _is_expected(error: Exception) -> bool:
    """Tasks that ran side by side raise a group: all in it are errors that a person can meet."""
    return isinstance(error, ExceptionGroup) and error.split((AotError, OSError))[1] is None


def _report_group(errors: Exception, arguments: Sequence[str]) -> int:
    first = _innermost(errors)
    if isinstance(first, OSError):
        return _report_refusal(first, arguments)
    return _report(str(getattr(first, "message", first)), getattr(first, "hint", None), arguments)


def _innermost(error: BaseException | None) -> BaseException | None:
    """The first error of a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _report_bug(arguments: Sequence[str]) -> int:
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    trace = traceback.format_exc()
    message = f"this is a bug: {''.join(traceback.format_exception_only(_innermost(sys.exception()))).strip()}"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="aot-bug-", suffix=".log", delete=False, encoding="utf-8") as log:
            log.write(f"arguments: {list(arguments)}\npython: {sys.version}\n\n{trace}")
    except OSError:
        return _report(message, trace, arguments)
    return _report(message, f"Please report it with {log.name}", arguments)
