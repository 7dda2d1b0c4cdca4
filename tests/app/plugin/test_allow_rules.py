"""The rules that a person may add to the settings: narrow, and nothing else in the settings changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.app.plugin.allow_rules import add_rules, allow_rules, missing_rules, remove_rules, settings_file
from aotloop.app.plugin.installation import find_installation
from aotloop.errors import Unavailable

RULES = allow_rules(find_installation())


def test_each_rule_names_one_script_that_exists_so_that_no_path_leads_elsewhere() -> None:
    folder = find_installation().folder
    paths = [re.fullmatch(r"Bash\(python3 (/[^*()]+\.py):\*\)", rule) for rule in RULES if "python3" in rule]
    assert len(paths) == len(RULES) - 1
    assert all(path is not None and Path(path[1]).is_file() and folder in Path(path[1]).parents for path in paths)
    assert [rule for rule in RULES if "python3" not in rule] == ["Bash(git rev-parse:*)"]


def test_what_runs_any_command_or_writes_what_was_agreed_on_has_no_rule() -> None:
    assert not [rule for rule in RULES if "verify_command" in rule or "align_goal" in rule]
    assert [rule for rule in RULES if "/update_atom.py" in rule]


@pytest.mark.parametrize("name", ["with space", "star*", "brackets(1)"])
def test_a_folder_whose_name_would_change_the_meaning_of_a_rule_has_none(tmp_path: Path, name: str) -> None:
    assert allow_rules(replace(find_installation(), folder=tmp_path / name)) == ()


def test_they_are_added_once_and_everything_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    before = {"permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]}, "model": "x", "hooks": {}}
    file.write_text(json.dumps(before))
    file.chmod(0o600)
    add_rules(file, RULES)
    add_rules(file, RULES)
    after = json.loads(file.read_text())
    assert after["permissions"]["allow"] == ["Bash(ls)", *RULES]
    assert missing_rules(file, RULES) == ()
    assert file.stat().st_mode & 0o777 == 0o600
    assert remove_rules(file, RULES)
    assert json.loads(file.read_text()) == before
    assert not remove_rules(file, RULES)


def test_without_settings_they_are_made_and_nothing_of_ours_is_left_after_removal(tmp_path: Path) -> None:
    file = tmp_path / "new" / "settings.json"
    assert missing_rules(file, RULES) == RULES
    assert not remove_rules(file, RULES)
    assert not file.exists()
    add_rules(file, RULES)
    assert remove_rules(file, RULES)
    assert json.loads(file.read_text()) == {}
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_a_link_to_the_settings_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text("{}")
    link.symlink_to(real)
    add_rules(link, RULES)
    assert link.is_symlink()
    assert json.loads(real.read_text())["permissions"]["allow"] == list(RULES)


@pytest.mark.parametrize("content", ["[1]", "{", '{"permissions": 7}', '{"permissions": {"allow": "x"}}'])
def test_settings_that_are_not_understood_are_left_as_they_are(tmp_path: Path, content: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)
    for change in (add_rules, remove_rules, missing_rules):
        with pytest.raises(Unavailable):
            change(file, RULES)
    assert file.read_text() == content


def test_they_are_for_this_person_only(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_file("user", tmp_path) == own_home / ".claude" / "settings.json"
    assert settings_file("project", tmp_path) == tmp_path / ".claude" / "settings.local.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    assert settings_file("user", tmp_path) == tmp_path / "config" / "settings.json"
