"""What a process sees of our environment is decided by one scrub."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aotloop.process.environment import ALLOWED, FOR_COMMANDS, for_commands, named, scrub

SECRETS = {
    "CANARY": "x",
    "ANTHROPIC_API_KEY": "x",
    "OPENAI_API_KEY": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "GITHUB_TOKEN": "x",
    "SSH_AUTH_SOCK": "x",
    "GIT_DIR": "x",
    "LD_PRELOAD": "x",
    "PYTHONPATH": "x",
    "PATHX": "x",
    "XPATH": "x",
    "AOT_SECRET": "x",
    "": "x",
}


def test_what_programs_need_is_passed_on() -> None:
    ours = {"PATH": "/bin", "HOME": "/me", "LANG": "C", "LC_ALL": "C", "https_proxy": "p", "TMPDIR": "/t", "TERM": "x"}
    assert scrub({**ours, **SECRETS}, allow=()) == ours


def test_more_is_passed_on_only_by_name_or_beginning() -> None:
    assert scrub(SECRETS, allow=["GITHUB_TOKEN", "AWS_*", "MISSING"]) == {
        "AWS_SECRET_ACCESS_KEY": "x",
        "GITHUB_TOKEN": "x",
    }


def test_a_mere_asterisk_does_not_open_the_door() -> None:
    assert scrub(SECRETS, allow=["*"]) == {}


def test_marks_of_whoever_surrounds_us_are_kept_so_that_it_can_end_us() -> None:
    marks = {"AOT_ATTEMPT_MARK": "outer", "AOT_CHECK_ID": "outer"}
    assert scrub(marks, allow=()) == marks


@given(st.dictionaries(st.text(), st.text()))
def test_nothing_that_is_not_on_the_list_is_passed_on(surroundings: dict[str, str]) -> None:
    assert all(name in ALLOWED or name.startswith("LC_") for name in scrub(surroundings, allow=()))


GIT = {"GIT_DIR": "x", "GIT_INDEX_FILE": "x", "GIT_AUTHOR_NAME": "x", "GIT_SSH_COMMAND": "x", "GIT_PAGER": "x"}


def test_without_a_list_everything_passes_but_what_names_a_repository() -> None:
    ours = {"CANARY": "x", "GITHUB_TOKEN": "x"}
    assert scrub({**ours, **GIT}) == {**ours, **GIT}
    kept = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "GIT_PAGER"), "x")
    assert scrub({**ours, **GIT}, git="no_repository") == {**ours, **kept}


def test_of_the_git_variables_those_about_the_person_can_be_kept_alone() -> None:
    assert scrub({**GIT, "PATH": "x"}, git="person") == {"GIT_AUTHOR_NAME": "x", "GIT_SSH_COMMAND": "x", "PATH": "x"}
    assert scrub({"GIT_SSH_COMMAND_X": "x", "XGIT_SSH": "x"}, git="person") == {"XGIT_SSH": "x"}


def test_commands_see_no_secret_and_nothing_that_is_not_on_the_list() -> None:
    """Checks run code that agents wrote. A beginning on the list opens no name that looks like a secret."""
    harmless = {"PATH": "/bin", "PYTHONPATH": "lib", "CI": "1", "AOT_RUN_ID": "r", "CC": "cc", "GIT_AUTHOR_NAME": "me"}
    inside = [name.replace("*", f"X_{end}") for name in FOR_COMMANDS if name.endswith("*") for end in ENDS]
    others = ["DATABASE_URL", "MONGO_URI", "CANARY", "MY_DB_PASSWORD", "SSH_AUTH_SOCK", "LD_PRELOAD", "GIT_DIR"]
    secrets = dict.fromkeys((*inside, *others, "GIT_CONFIG_VALUE_0", "GIT_CONFIG_PARAMETERS"), "x")
    assert for_commands({**harmless, **secrets}) == harmless


ENDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIALS", "AUTH", "COOKIE", "PAT", "DSN")


def test_named_variables_are_taken_and_no_others() -> None:
    ours = {"DATABASE_URL": "a", "NPM_TOKEN": "b", "NPM_X": "c", "OTHER": "d"}
    assert named(ours, ("DATABASE_URL", "NPM_*", "*")) == {"DATABASE_URL": "a", "NPM_TOKEN": "b", "NPM_X": "c"}
