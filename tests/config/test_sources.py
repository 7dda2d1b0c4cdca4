"""A file of settings that is wrong as a file is refused with its name, its line, and what to do."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path

import pytest

from aotloop.config.sources import LARGEST, load
from aotloop.errors import Unavailable
from tests.config.writing import complaint, loaded, refusal

TOML = "See https://toml.io for how to write it."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('agent = "a"\nsetup = = 1\n', "line 2, column 9: Invalid value"),
        ("agent", "line 1: Expected '=' after a key in a key/value pair"),
        ('\n\nsetup = """\nnpm ci\n', "line 5: Unterminated string"),
        ('agent = "a"\nagent = "b"', "line 2: Cannot overwrite a value"),
        ("agent = 'a'\r\n[timeouts\r\n", "line 2, column 10: Expected ']' at the end of a table declaration"),
        ('agent = "\\ud800"', "line 1, column 16: Escaped character is not a Unicode scalar value"),
    ],
)
def test_what_is_no_toml_is_answered_with_its_line(project: Path, text: str, message: str) -> None:
    path = project / "aot.toml"
    path.write_bytes(text.encode())
    error = refusal(project)
    assert error.message.startswith(f"{path}: line ")
    assert (error.message, error.hint) == (f"{path}: {message}", TOML)


def test_a_number_of_very_many_digits_is_refused(project: Path) -> None:
    message, _ = complaint(project, f"check_timeout = {'1' * 5000}")
    assert message == "it contains an invalid value: a number of too many digits"


def test_a_number_that_python_reads_and_cannot_print_is_refused(project: Path) -> None:
    message, _ = complaint(project, f"check_timeout = 0x{'f' * 5000}")
    assert message == "check_timeout: this number is not a length of time"


def test_a_list_of_very_many_levels_is_refused(project: Path) -> None:
    message, _ = complaint(project, f"copy = {'[' * 5000}")
    assert message == "it contains an invalid value: too many levels"


def test_what_is_not_utf_8_is_answered_with_its_line(project: Path) -> None:
    path = project / "aot.toml"
    path.write_bytes(b"# one\n# caf\xe9\n")
    error = refusal(project)
    assert (error.message, error.hint) == (f"{path}: line 2: not valid UTF-8", "Save the file as UTF-8.")
    path.write_bytes('agent = "a"'.encode("utf-16"))
    assert refusal(project).message == f"{path}: line 1: not valid UTF-8"


def test_a_byte_order_mark_and_lines_of_windows_are_accepted(project: Path) -> None:
    (project / "aot.toml").write_bytes(b'\xef\xbb\xbfagent = "a"\r\n[timeouts]\r\ntotal = "1h"\r\n')
    assert (load(project).agent, load(project).timeouts.total) == ("a", 3600.0)


def test_what_is_not_a_regular_file_is_refused_and_not_waited_for(project: Path) -> None:
    path = project / "aot.toml"
    for make in (path.mkdir, partial(os.mkfifo, path), partial(path.symlink_to, os.devnull)):
        make()
        error = refusal(project)
        assert isinstance(error, Unavailable)
        assert error.message == f"{path} is not a regular file"
        assert error.hint == "Settings are read from a file; move this away."
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(project: Path) -> None:
    path = project / "aot.toml"
    path.symlink_to(path)  # unlike a mode, a link to itself stops root, too
    error = refusal(project)
    assert isinstance(error, Unavailable)
    assert error.message == f"{path} cannot be read: {os.strerror(errno.ELOOP)}"
    assert error.hint == "Make it readable, or remove it."


def test_a_link_that_leads_nowhere_is_not_taken_for_no_file(project: Path) -> None:
    path = project / "aot.toml"
    path.symlink_to(project / "gone")
    error = refusal(project)
    assert (error.message, error.hint) == (f"{path} is a broken link", "Repair it, or remove it.")


def test_a_link_to_a_file_is_followed(project: Path) -> None:
    (project / "shared.toml").write_text('agent = "a"')
    (project / "aot.toml").symlink_to("shared.toml")
    assert load(project).agent == "a"


def test_a_file_of_absurd_size_is_not_read(project: Path) -> None:
    path = project / "aot.toml"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    error = refusal(project)
    assert error.message == f"{path} is too large for a file of settings"
    assert error.hint == "Is this the right file?"


def test_an_empty_file_is_a_file(project: Path) -> None:
    assert loaded(project, "").source == project / "aot.toml"
