"""Sealed payloads: the server sees neither prompts nor code, and cannot make up an order or a result (AES-GCM)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, PayloadCodec

from aotloop.errors import Unavailable
from aotloop.foreign_files import read_foreign

ENCODING = b"binary/aot-sealed"
KEY_BYTES = 32
_NONCE = 12
_ABOUT = b"aotloop payload 1"


class NotSealedError(ValueError):
    """The payload was made by a process that does not have the key."""


class SealingCodec(PayloadCodec):
    def __init__(self, key: bytes) -> None:
        self._key = AESGCM(key)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._sealed(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._opened(payload) for payload in payloads]

    def _sealed(self, payload: Payload) -> Payload:
        nonce = os.urandom(_NONCE)
        data = self._key.encrypt(nonce, payload.SerializeToString(), _ABOUT)
        return Payload(metadata={"encoding": ENCODING}, data=nonce + data)

    def _opened(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            raise NotSealedError("it is not sealed: its sender has no key")
        try:
            return Payload.FromString(self._key.decrypt(payload.data[:_NONCE], payload.data[_NONCE:], _ABOUT))
        except (InvalidTag, ValueError):
            raise NotSealedError("it cannot be opened: its sender has another key") from None


class OpenCodec(PayloadCodec):
    """Without a key: a sealed payload is refused with a reason."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        if any(payload.metadata.get("encoding") == ENCODING for payload in payloads):
            raise NotSealedError("it is sealed, and there is no key here")
        return list(payloads)


def converter(key: bytes | None) -> DataConverter:
    return replace(DataConverter.default, payload_codec=SealingCodec(key) if key is not None else OpenCodec())


def read_key(path: Path) -> bytes:
    """The key as 64 hexadecimal digits. A file that others can read is no secret. Raises Unavailable."""
    try:
        mode = path.stat().st_mode
        content = read_foreign(path, 1000)
    except OSError as error:
        raise Unavailable(f"the key file {path} cannot be read: {error.strerror}", hint=how_to_make(path)) from error
    if mode & 0o077:
        raise Unavailable(f"others can read the key file {path}", hint=f"Run: chmod 600 {path}")
    try:
        key = bytes.fromhex(content.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise Unavailable(f"{path} does not hold a key of {KEY_BYTES * 2} hexadecimal digits", hint=how_to_make(path))
    return key


def how_to_make(path: Path) -> str:
    return f"Make one, and copy it to every worker: (umask 077; openssl rand -hex {KEY_BYTES} > {path})"
