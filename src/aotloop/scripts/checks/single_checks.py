"""verify_command, verify_file: one check, outside of any loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aotloop.app.checkout_fence import fenced_checkout
from aotloop.app.loops import CHECK_TIMEOUT
from aotloop.checks.command_check import check_command
from aotloop.checks.file_check import check_file
from aotloop.scripts.arguments import Option, Usage
from aotloop.scripts.json_output import Script
from aotloop.statefile.locate import new_state_file


def _verify_command(given: dict[str, Any]) -> dict[str, Any]:
    with fenced_checkout(new_state_file(), root=Path.cwd()) as checkout:
        result = check_command(
            given["command"],
            root=checkout.root,
            timeout=given["timeout"],
            expect_fail=given["expect_fail"],
            env=checkout.fence.env,
            confinement=checkout.fence.confinement,
        )
    return {
        "passed": result.passed,
        "type": result.kind,
        "command": given["command"],
        "exit_code": result.exit_code,
        "evidence": result.evidence,
        "output_summary": result.output,
    }


def _verify_file(given: dict[str, Any]) -> dict[str, Any]:
    result = check_file(given["path"], root=Path.cwd(), expect_missing=given["expect_missing"])
    return {
        "passed": result.passed,
        "type": result.kind,
        "path": given["path"],
        "exists": result.exists,
        "evidence": result.evidence,
    }


VERIFY_COMMAND = Script(
    Usage(
        "Run a command; it passes if it exits with 0 (or, with --expect-fail, with anything else).",
        ("command",),
        {"--expect-fail": Option(None), "--timeout": Option(float, CHECK_TIMEOUT)},
    ),
    _verify_command,
    verdict="passed",
)
VERIFY_FILE = Script(
    Usage("Look for a file, a directory or a glob.", ("path",), {"--expect-missing": Option(None)}),
    _verify_file,
    verdict="passed",
)
