"""Whatever a file holds, it is understood or refused; nothing else ever happens."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.config.tables import _AGENT, _TIMEOUTS, KEYS
from aotloop.errors import AotError

NOWHERE = Path("/no such folder")

scalars = (
    st.text()
    | st.sampled_from(["none", "1h", "~", "/x", "shell", "command", "{prompt}", "{x}", "*", "A*", "**", ".", "\0"])
    | st.booleans()
    | st.integers()
    | st.floats()
)
keys = st.sampled_from([*KEYS, *_AGENT, *_TIMEOUTS, "x", "shell", "command"]) | st.text()
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
"""What TOML can say, and flags, too."""


def understood_or_refused(content: bytes, name: str = "aot.toml") -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        answer = config_or_error(Path(folder), environ={"HOME": folder})
        assert isinstance(answer, Config) or answer.message.startswith(f"{Path(folder) / name}: ")


def config_or_error(root: Path, **where: Any) -> Config | AotError:
    try:
        return load(root, **where)
    except AotError as error:
        return error


@given(st.binary())
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
@example(b"\0")
@example(b"a = " + b"[" * 2000)
@example(b"a" + b".a" * 2000 + b" = 1")
@example(b"[" + b"a." * 2000 + b"a]")
@example(b"copy = " + b"{a=" * 2000)
@example(b"timeouts.total = 0x" + b"f" * 9000)
@example(b"timeouts.total = 1e99999")
@example(b"setup = 0001-01-01T00:00:00+23:59")
@example(b"setup_timeout = " + b"9" * 5000)
def test_any_bytes_are_understood_or_refused(content: bytes) -> None:
    understood_or_refused(content)
    understood_or_refused(b"[tool.aot]\n" + content, "pyproject.toml")


@given(st.text(alphabet="aegnts.[]={}\"'\n\\, 01-:#_", max_size=60))
def test_any_text_near_toml_is_understood_or_refused(text: str) -> None:
    understood_or_refused(text.encode())


@given(st.dictionaries(keys, values, max_size=4))
def test_any_data_is_understood_or_refused(settings: dict[str, Any]) -> None:
    understood_or_refused(toml(settings).encode())
    answer = config_or_error(NOWHERE, flags=settings, environ={"HOME": str(NOWHERE)})
    assert isinstance(answer, Config) or answer.message.startswith("--")


@given(
    st.sampled_from(["AOT_AGENT", "AOT_ISOLATION", "AOT_WORKTREES", "AOT_CHECK_TIMEOUT", "AOT_ALLOW_DIRTY"]), st.text()
)
def test_any_variable_is_understood_or_refused(name: str, value: str) -> None:
    answer = config_or_error(NOWHERE, environ={name: value, "HOME": str(NOWHERE)})
    assert isinstance(answer, Config) or answer.message.startswith(f"{name}: ")


def toml(settings: dict[str, Any]) -> str:
    return "".join(f"{quoted(key)} = {written(value)}\n" for key, value in settings.items())


def written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def quoted(text: str) -> str:
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
