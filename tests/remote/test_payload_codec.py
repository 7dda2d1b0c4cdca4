"""What is sent is sealed: without the key nothing can be read, made up or changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload

from aotloop.errors import Unavailable
from aotloop.remote.payload_codec import ENCODING, NotSealedError, converter, read_key

KEY, OTHER = bytes(32), bytes(31) + b"\x01"


def sealed(content: bytes, key: bytes | None = KEY) -> list[Payload]:
    return asyncio.run(converter(key).encode([content]))


def opened(payloads: list[Payload], key: bytes | None = KEY) -> list[object]:
    return asyncio.run(converter(key).decode(payloads, [bytes]))


def test_a_holder_of_the_key_reads_what_was_sent() -> None:
    payloads = sealed(b"a prompt")
    assert b"prompt" not in payloads[0].SerializeToString()
    assert opened(payloads) == [b"a prompt"]


def test_the_same_text_is_never_sealed_in_the_same_way() -> None:
    assert sealed(b"a")[0].data != sealed(b"a")[0].data


@pytest.mark.parametrize(
    ("payloads", "key", "why"),
    [
        (sealed(b"a"), OTHER, "another key"),
        (sealed(b"a", None), KEY, "not sealed"),
        (sealed(b"a"), None, "no key here"),
        ([Payload(metadata={"encoding": ENCODING}, data=b"short")], KEY, "another key"),
        ([Payload(metadata={"encoding": ENCODING}, data=sealed(b"a")[0].data[:-1] + b"?")], KEY, "another key"),
    ],
)
def test_what_was_sealed_by_others_is_refused(payloads: list[Payload], key: bytes | None, why: str) -> None:
    with pytest.raises(NotSealedError, match=why):
        opened(payloads, key)


def test_no_byte_of_it_can_be_changed() -> None:
    [payload] = sealed(b"an order")
    for at in range(len(payload.data)):
        forged = bytes([*payload.data[:at], payload.data[at] ^ 1, *payload.data[at + 1 :]])
        with pytest.raises(NotSealedError):
            opened([Payload(metadata={"encoding": ENCODING}, data=forged)])


@pytest.mark.parametrize("encoding", [b"json/plain", b"binary/plain", b"binary/null", b"binary/aot-sealed2", b""])
def test_it_cannot_be_said_to_be_something_weaker(encoding: bytes) -> None:
    [payload] = sealed(b"an order")
    for data in (payload.data, b'"an order"', b""):
        with pytest.raises(NotSealedError):
            opened([Payload(metadata={"encoding": encoding}, data=data)])


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [("00" * 32, 0o644, "others can read"), ("00" * 31, 0o600, "64 hexadecimal"), ("zz" * 32, 0o600, "64 hexa")],
)
def test_a_key_file_that_is_no_secret_or_no_key_is_refused(tmp_path: Path, content: str, mode: int, why: str) -> None:
    file = tmp_path / "key"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(Unavailable, match=why):
        read_key(file)


def test_a_key_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{'0f' * 32}\n")
    file.chmod(0o600)
    assert read_key(file) == b"\x0f" * 32
    with pytest.raises(Unavailable, match="openssl rand -hex 32"):
        read_key(tmp_path / "missing")
