"""The scripts' error boundary: one JSON object always goes to standard output, and the exit code agrees."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from aotloop.errors import AotError, NotTrusted, refusal
from aotloop.scripts.arguments import Option, Usage, UsageError, parse

STATE_FILE = Option()

Run = Callable[[dict[str, Any]], dict[str, Any]]


class Script(msgspec.Struct, frozen=True):
    usage: Usage
    run: Run
    verdict: str | None = "success"
    """The key of the result that tells success from failure; None where there is nothing to fail."""


def main(name: str, script: Script, argv: Sequence[str]) -> int:
    usage = msgspec.structs.replace(script.usage, options={**script.usage.options, "--state-file": STATE_FILE})
    if "--help" in argv or "-h" in argv:
        return _say({"usage": usage.line(name), "description": usage.summary}, 0)
    try:
        result = script.run(parse(usage, argv))
    except UsageError as error:
        return _say({"success": False, "error": str(error), "usage": usage.line(name)}, 2)
    except NotTrusted as error:
        return _say({"success": False, "error": str(error), "commands": error.commands}, 1)
    except (AotError, OSError) as error:
        return _say({"success": False, "error": str(refusal(error))}, 1)
    except Exception as error:  # noqa: BLE001 - a bug; the caller still gets its JSON, and a report to send
        import traceback  # noqa: PLC0415 - slow to import, and rarely needed

        traceback.print_exc()
        return _say({"success": False, "error": f"bug in aotloop, please report it: {error!r}"}, 1)
    return _say(result, 0 if script.verdict is None or result[script.verdict] else 1)


def _say(result: dict[str, Any], code: int) -> int:
    sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
    sys.stdout.buffer.flush()
    return code
