"""A code proves who wrote something, and what for."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.trust.seal import code_for, is_sealed, is_there


def test_a_code_is_for_one_content_and_one_purpose() -> None:
    assert not is_there()
    code = code_for("p", b"content")
    assert is_there()
    assert is_sealed("p", b"content", code)
    assert not is_sealed("q", b"content", code)
    assert not is_sealed("p", b"other", code)
    assert not is_sealed("p", b"content", "")
    assert not is_sealed("p", b"content", code.upper())


def test_the_key_is_for_its_owner_alone_and_stays(own_home: Path) -> None:
    first = code_for("p", b"x")
    key = own_home / ".local/share/aotloop/private/key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o077 == 0
    assert code_for("p", b"x") == first


@pytest.mark.parametrize("kind", ["link", "short", "folder"])
def test_another_key_in_its_place_seals_nothing_that_was_sealed(own_home: Path, kind: str) -> None:
    code = code_for("p", b"x")
    key = own_home / ".local/share/aotloop/private/key"
    key.unlink()
    if kind == "link":
        (own_home / "mine").write_bytes(b"k" * 32)
        key.symlink_to(own_home / "mine")
    elif kind == "short":
        key.write_bytes(b"k")
    else:
        key.mkdir()
    assert not is_sealed("p", b"x", code)
