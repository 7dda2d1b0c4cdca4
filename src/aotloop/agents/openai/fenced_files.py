"""Files in an answer: fenced blocks, each with the path of its file. A block that does not end is no file."""

from __future__ import annotations

import re

import msgspec

_FENCE = re.compile(r"^[ \t]{0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$")
_PATH = re.compile(r"(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.\w{1,8}|(?:[\w.@+-]+/)+[\w.@+-]+|Makefile|Dockerfile|LICENSE")
_LABEL = re.compile(r"^(?:#|//|--|;|/\*|<!--)?\s*(?:[Ff]ile(?:name)?|[Pp]ath)\s*:\s*`?(?P<path>[^\s`*]+)`?")
_TITLE = re.compile(r"^[\s#*>-]*(?:[Ff]ile(?:name)?:?\s*)?[`*]{0,3}(?P<path>[\w./@+-]+)[`*]{0,3}:?[`*]{0,2}\s*$")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    path: str | None
    """None: the answer does not say which file this is."""
    text: str


def files_in(answer: str, expected: tuple[str, ...] = ()) -> dict[str, str]:
    """Path → text. One block without a path is the file that is expected, if only one is."""
    blocks = blocks_in(answer)
    found = {block.path: block.text for block in blocks if block.path is not None}
    nameless = [block for block in blocks if block.path is None] or _unopened(answer, blocks)
    if not found and nameless and len(expected) == 1:
        return {expected[0]: max(nameless, key=lambda block: len(block.text)).text}
    return found


def blocks_in(answer: str) -> list[Block]:
    blocks: list[Block] = []
    lines = answer.replace("\r\n", "\n").split("\n")
    before, at = "", 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            before = lines[at] if lines[at].strip() else before
            at += 1
            continue
        end = _end_of(lines, at + 1, opening["fence"])
        if end is None:
            break
        blocks.append(_block(opening["info"], before, lines[at + 1 : end]))
        before, at = "", end + 1
    return blocks


def _unopened(answer: str, blocks: list[Block]) -> list[Block]:
    """Small models forget the opening fence, not the closing one."""
    text, fence, rest = answer.partition("\n```")
    return (
        [Block(path=None, text=f"{text}\n")] if fence and not blocks and not rest.strip() and "```" not in text else []
    )


def _end_of(lines: list[str], start: int, fence: str) -> int | None:
    for number in range(start, len(lines)):
        closing = lines[number].strip()
        if len(closing) >= len(fence) and closing == fence[0] * len(closing):
            return number
    return None


def _block(info: str, before: str, lines: list[str]) -> Block:
    path = _path_in_info(info)
    if path is None and lines and (label := _LABEL.match(lines[0])) is not None and _PATH.fullmatch(label["path"]):
        path, lines = label["path"], lines[1:]
    if path is None and (title := _TITLE.match(before)) is not None and _PATH.fullmatch(title["path"]):
        path = title["path"]
    return Block(path=path, text="\n".join(lines) + "\n" if lines else "")


def _path_in_info(info: str) -> str | None:
    """As in ```src/a.py, ```python src/a.py, ```python title="src/a.py", ```python:src/a.py."""
    words = re.split(r"[\s:={}\"',]+", info)
    return next((word for word in words if _PATH.fullmatch(word)), None)


def paths_in(text: str) -> list[str]:
    """What looks like the path of a file in a text, each once."""
    return list(dict.fromkeys(match[0] for match in re.finditer(rf"(?<![\w/.-])(?:{_PATH.pattern})", text)))
