"""The command that adds an extra fits the way in which aotloop was installed, and removes nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from aotloop import extras
from aotloop.extras import install_command

UV = '[tool]\nrequirements = [{ name = "aotloop", extras = ["web"], directory = "/src" }]\n'
PIPX = json.dumps({"main_package": {"package": "aotloop", "package_or_url": "/src[web]"}})


@pytest.mark.parametrize(
    ("receipt", "text", "begin"),
    [("uv-receipt.toml", UV, "uv tool install"), ("pipx_metadata.json", PIPX, "pipx install --force")],
)
def test_a_tool_is_installed_again_from_its_folder_with_the_extras_it_has(
    tmp_path: Path, receipt: str, text: str, begin: str
) -> None:
    (tmp_path / receipt).write_text(text)
    where, _ = extras._source()
    assert install_command("mcp", prefix=tmp_path) == f"{begin} '{where}[mcp,web]'"
    assert install_command("web", prefix=tmp_path) == f"{begin} '{where}[web]'"
    (tmp_path / receipt).write_text("{")
    assert install_command("mcp", prefix=tmp_path) == f"{begin} '{where}[mcp]'"


def test_in_a_virtual_environment_the_command_names_its_own_python(tmp_path: Path) -> None:
    words = shlex.split(install_command("web", prefix=tmp_path))
    assert words[-1] == f"{Path(__file__).parents[1]}[web]"
    assert any(word.endswith(("/python", "/python3")) for word in words)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("aotloop", "pip install 'aotloop[mcp,web]'"),
        ("/tmp/it's here", """-m pip install '/tmp/it'"'"'s here[mcp,web]'"""),
    ],
)
def test_where_a_shell_would_read_a_pattern_or_a_quote_the_command_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, expected: str
) -> None:
    monkeypatch.setattr(extras, "_source", lambda: (where, False))
    monkeypatch.setattr(extras, "find_spec", lambda _: True)
    assert install_command("web", "mcp", prefix=tmp_path).endswith(expected)
