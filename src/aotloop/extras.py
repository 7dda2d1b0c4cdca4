"""Only this module says with which command a person adds an extra: it depends on how aotloop itself was installed.

The command names where aotloop came from, and the extras that are there already: uv and pipx would remove them.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAME = "aotloop"
_UV_RECEIPT = "uv-receipt.toml"
_PIPX_RECEIPT = "pipx_metadata.json"


def install_command(*extras: str, prefix: Path | None = None) -> str:
    """`prefix`: the environment in which aotloop is installed."""
    prefix = prefix or Path(sys.prefix)
    where, is_editable = _source()
    if (prefix / _UV_RECEIPT).is_file():
        return f"uv tool install {_quoted(where, {*extras, *_extras_of_uv(prefix)})}"
    if (prefix / _PIPX_RECEIPT).is_file():
        return f"pipx install --force {_quoted(where, {*extras, *_extras_of_pipx(prefix)})}"
    what = f"{'-e ' * is_editable}{_quoted(where, extras)}"
    if where == NAME:
        return f"pip install {what}"
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install {what}" if find_spec("pip") else f"uv pip install -p {python} {what}"


def _quoted(where: str, extras: Iterable[str]) -> str:
    """Always in quotes: shells read `[…]` as a pattern."""
    wanted = f"{where}[{','.join(sorted(extras))}]"
    return shlex.quote(wanted) if "'" in wanted else f"'{wanted}'"


def _source() -> tuple[str, bool]:
    """A folder, or the name in the index; and whether it is installed as editable."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - slow, and rarely needed
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415

    with suppress(PackageNotFoundError, ValueError, AttributeError):
        told: dict[str, Any] = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
        address = urlsplit(str(told.get("url", "")))
        if address.scheme == "file" and "dir_info" in told:
            return unquote(address.path), bool(told["dir_info"].get("editable"))
    return NAME, False


def _extras_of_uv(prefix: Path) -> list[str]:
    import tomllib  # noqa: PLC0415 - as above

    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        required = tomllib.loads((prefix / _UV_RECEIPT).read_text("utf-8"))["tool"]["requirements"]
        return [extra for entry in required if entry["name"] == NAME for extra in entry.get("extras", ())]
    return []


def _extras_of_pipx(prefix: Path) -> list[str]:
    with suppress(OSError, ValueError, KeyError, TypeError):
        installed = json.loads((prefix / _PIPX_RECEIPT).read_text("utf-8"))["main_package"]["package_or_url"]
        found = re.search(r"\[([\w, -]+)\]$", installed)
        return [extra.strip() for extra in found[1].split(",")] if found is not None else []
    return []
