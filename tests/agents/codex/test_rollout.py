"""What Codex used is read from its rollouts while it writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.codex.rollout import Rollouts, tokens_in
from aotloop.agents.contract import Tokens

DAY = "sessions/2026/11/18"


def line(given: Any = 0, made: Any = 0, **more: Any) -> str:
    used = {"input_tokens": given, "output_tokens": made, **more}
    info = {"total_token_usage": used, "last_token_usage": {"input_tokens": 1}}
    return json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}) + "\n"


def written(home: Path, *texts: str, name: str = "rollout-a.jsonl") -> Path:
    (home / DAY).mkdir(parents=True, exist_ok=True)
    with (home / DAY / name).open("a") as file:
        file.writelines(texts)
    return home / DAY / name


def test_it_is_read_while_it_grows_and_counters_only_grow(tmp_path: Path) -> None:
    rollouts = Rollouts(tmp_path)
    assert rollouts.tokens() is None
    written(tmp_path, '{"type": "session_meta"}\n', line(10, 2), line(30, 3)[:40])
    assert rollouts.tokens() == Tokens(input=10, output=2)
    written(tmp_path, line(30, 3)[40:], line(20, 9, cached_input_tokens=5))
    assert rollouts.tokens() == Tokens(input=30, output=9, cache_read=5)


def test_helpers_count_too_and_conversations_of_before_do_not(tmp_path: Path) -> None:
    written(tmp_path, line(500, 50))
    written(tmp_path, line(900, 90), name="rollout-other.jsonl")
    rollouts = Rollouts(tmp_path)
    assert rollouts.tokens() is None
    written(tmp_path, line(700, 70))
    written(tmp_path, line(5, 1), name="rollout-helper.jsonl")
    assert rollouts.tokens() == Tokens(input=705, output=71)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"token_count"\n',
        '{"token_count": 1}\n',
        '{"payload": {"type": "token_count", "info": null}}\n',
        '{"payload": ["token_count"]}\n',
        line("many", 1).replace("{", "[", 1),
        "[" * 5000 + '"token_count"\n',
        "x" * 9_000_000 + "\n",
    ],
)
def test_what_makes_no_sense_is_no_information(tmp_path: Path, text: str) -> None:
    rollouts = Rollouts(tmp_path)
    rollouts.tokens()
    written(tmp_path, text)
    assert rollouts.tokens() is None
    written(tmp_path, line(7, 1))
    assert rollouts.tokens() == (Tokens(input=7, output=1) if not text or text.endswith("\n") else None)


def test_a_pipe_or_a_link_in_its_place_is_left_alone(tmp_path: Path) -> None:
    secret = written(tmp_path / "elsewhere", line(7, 1))
    rollouts = Rollouts(tmp_path)
    rollouts.tokens()
    (tmp_path / DAY).mkdir(parents=True)
    os.mkfifo(tmp_path / DAY / "pipe.jsonl")
    (tmp_path / DAY / "link.jsonl").symlink_to(secret)
    (tmp_path / "sessions/2025").symlink_to(tmp_path / "elsewhere/sessions")
    assert rollouts.tokens() is None


def test_a_file_of_holes_is_not_read_to_its_end_at_once(tmp_path: Path) -> None:
    file = tmp_path / "sessions" / "a.jsonl"
    file.parent.mkdir()
    with file.open("wb") as holes:
        holes.truncate(1 << 40)
    assert Rollouts(tmp_path).tokens() is None


@pytest.mark.parametrize("usage", [None, 3, {}, {"input_tokens": -1}, {"input_tokens": 10**40, "output_tokens": "x"}])
def test_numbers_that_are_no_counts_count_nothing(usage: Any) -> None:
    assert tokens_in(usage) in (None, Tokens())
