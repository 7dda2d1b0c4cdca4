"""Files in an answer: fenced blocks, each with the path of its file. A block that does not end is no file.

The path stands in the opening fence, in the first line of the block, or in the line before it. What is no file (a
command to type, output, a diff) is taken for one only if the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

_FENCE = re.compile(r"^[ \t]{0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$")
_PATH = re.compile(r"(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.\w{1,8}|(?:[\w.@+-]+/)+[\w.@+-]+|Makefile|Dockerfile|LICENSE")
_LABEL = re.compile(r"^(?:#|//|--|;|/\*|<!--)?\s*(?:[Ff]ile(?:name)?|[Pp]ath)\s*:\s*`?(?P<path>[^\s`*]+)`?")
_COMMENT = re.compile(r"^(?:#|//|--|;|/\*|<!--)\s*(?P<path>[\w@+-][\w./@+-]*[./]\w+)\s*(?:\*/|-->)?$")
_TITLE = re.compile(
    r"^[\s#*>-]*(?:\d{1,3}[.)]\s+)?(?:[Ff]ile(?:name)?:?\s*)?[`*]{0,3}(?P<path>/?[\w./@+-]+)[`*]{0,3}:?[`*]{0,2}\s*$"
)
_MARKED = re.compile(r"`(?P<code>[^`\s]+)`|\*\*(?P<bold>[^*\s]+)\*\*|\[(?P<link>[^\]\s]+)\]\([^)]*\)")
_INTRODUCES = re.compile(r"[:\uff1a][*_\s]*$|[`*)][*_.\s]*$")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<path>.*?)(?P=quote)""")
_NO_FILES = frozenset(("bash", "console", "diff", "output", "patch", "powershell", "sh", "shell", "text", "txt", "zsh"))
"""Languages of blocks that show what to type, what came out, or what differs."""
_LIKE_THEM = (".bash", ".diff", ".patch", ".ps1", ".sh", ".txt", ".zsh")
_LONGEST_LINE = 300
"""Characters of a line that may name a file."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    path: str | None
    """None: the answer does not say which file this is."""
    text: str
    language: str = ""

    @property
    def is_a_diff(self) -> bool:
        return self.language in {"diff", "patch"} or self.text.startswith(("--- a/", "diff --git "))

    def may_be(self, path: str) -> bool:
        """Whether it may be this file, of which its fence does not speak."""
        is_like_them = path.endswith(_LIKE_THEM) or "." not in path.rpartition("/")[2]
        return is_like_them or not (self.is_a_diff or self.language in _NO_FILES)


def files_in(answer: str, expected: tuple[str, ...] = ()) -> dict[str, str]:
    """Path → text. One block without a path is the file that is expected, if only one is."""
    blocks = blocks_in(answer)
    found = {_as_expected(block.path, expected): block.text for block in blocks if block.path is not None}
    nameless = [block for block in blocks if block.path is None] or _unopened(answer, blocks)
    if not found and len(expected) == 1:
        fitting = [block.text for block in nameless if block.may_be(expected[0])]
        return {expected[0]: max(fitting, key=len)} if fitting else {}
    return found


def why_no_file(answer: str) -> str:
    """For a model whose answer has no file."""
    blocks = blocks_in(answer)
    if any(block.is_a_diff for block in blocks):
        return "it gave a diff, and whole files are asked for"
    if blocks:
        return "no fenced block of its answer says which file it is"
    return "it changed no file, and its answer has neither a file nor a result"


def beside_files(answer: str) -> str:
    """The words beside the blocks, on one line."""
    return " ".join(" ".join(part for part in _parts(answer) if isinstance(part, str)).split())


def blocks_in(answer: str) -> list[Block]:
    return [part for part in _parts(answer) if isinstance(part, Block)]


def _parts(answer: str) -> Iterator[Block | str]:
    """Blocks, and the lines between them. A block that does not end is neither."""
    lines = answer.replace("\r\n", "\n").split("\n")
    before, at = "", 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            before = lines[at] if lines[at].strip() else before
            yield lines[at]
            at += 1
            continue
        end = _end_of(lines, at + 1, opening["fence"])
        if end is None:
            return
        yield _block(opening["info"], before, lines[at + 1 : end])
        before, at = "", end + 1


def fenced(path: str, text: str) -> str:
    """A file as a model is shown it: no fence in the text ends the block."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{path}\n{text.rstrip()}\n{fence}"


def paths_in(text: str) -> list[str]:
    """What looks like the path of a file in a text, each once."""
    return list(dict.fromkeys(match[0] for match in re.finditer(rf"(?<![\w/.-])(?:{_PATH.pattern})", text)))


def _as_expected(path: str, expected: Iterable[str]) -> str:
    """Models write the path of a file from the root of some machine."""
    return next((name for name in expected if path.startswith("/") and path.endswith(f"/{name}")), path)


def _unopened(answer: str, blocks: list[Block]) -> list[Block]:
    """Small models forget the opening fence, not the closing one."""
    text, fence, rest = answer.partition("\n```")
    return (
        [Block(path=None, text=f"{text}\n")] if fence and not blocks and not rest.strip() and "```" not in text else []
    )


def _end_of(lines: list[str], start: int, fence: str) -> int | None:
    """A fence with words after it opens a block inside of this one, as in the file of a manual."""
    inner: list[str] = []
    for number in range(start, len(lines)):
        closing, open_fence = lines[number].strip(), inner[-1] if inner else fence
        if len(closing) >= len(open_fence) and closing == open_fence[0] * len(closing):
            if not inner:
                return number
            inner.pop()
        elif (opening := _FENCE.match(lines[number])) is not None and _opens(opening, open_fence):
            inner.append(opening["fence"])
    return None


def _opens(found: re.Match[str], open_fence: str) -> bool:
    """A shorter fence, or one of the other kind, does not matter inside of a block."""
    same_kind = found["fence"][0] == open_fence[0] and len(found["fence"]) >= len(open_fence)
    return bool(found["info"].strip()) and same_kind


def _block(info: str, before: str, lines: list[str]) -> Block:
    language, *_ = re.split(r"[\s:={}]+", info.strip().lower())
    path = _first_path(_in_info(info))
    top = lines[0] if lines and len(lines[0]) <= _LONGEST_LINE else ""
    if path is None and (label := _LABEL.match(top)) is not None:
        path = _first_path([label["path"]])
        lines = lines[1:] if path is not None else lines
    if path is None and (comment := _COMMENT.match(top)) is not None:
        path = _first_path([comment["path"]])  # the line stays: it may be the file's own
    if path is None and len(before) <= _LONGEST_LINE:
        path = _first_path(_in_title(before, language))
    return Block(path=path, text="\n".join(lines) + "\n" if lines else "", language=language)


def _in_info(info: str) -> Iterator[str]:
    """As in ```src/a.py, ```python src/a.py, ```python title="src/a.py", ```python:src/a.py."""
    quoted = [match["path"] for match in _QUOTED.finditer(info)]
    yield from quoted or re.split(r"[\s:={},]+", info)


def _in_title(before: str, language: str) -> Iterator[str]:
    """The path alone, or the only marked one in words that introduce a block with a language of files."""
    title = _TITLE.match(before)
    if title is not None:
        yield title["path"]
    elif language and language not in _NO_FILES and _INTRODUCES.search(before):
        marked = {next(filter(None, match.groups())) for match in _MARKED.finditer(before)}
        paths = [word for word in marked if _first_path([word]) is not None]
        yield from paths if len(paths) == 1 else ()


def _first_path(words: Iterable[str]) -> str | None:
    """A path may lead out of the folder here: the folder refuses it, with the reason."""
    return next((word for word in words if _PATH.fullmatch(word.removeprefix("/"))), None)
