"""The settings of git that count, read once: agents may write to the person's home, so nothing there is read again.

In the person's own checkout, git works as the person has set it up, with the values of the start. In a folder of ours
only settings count that run no program. The one exception is git-lfs, which is called by its full path.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from aotloop.foreign_files import read_plain
from aotloop.git.command import PATIENCE, Place, git
from aotloop.process.own_programs import own_program

_THE_PERSONS_OWN = frozenset({"system", "global"})
_COMMAND = "command"

_IN_THE_CHECKOUT = re.compile(
    r"core\.(autocrlf|eol|attributesfile|excludesfile|precomposeunicode|bigfilethreshold|protect\w+|longpaths)"
    r"|filter\..+|safe\.directory|merge\.(renames|directoryrenames|renamelimit|conflictstyle)|diff\.renames?(limit)?"
)
_FETCHES = re.compile(r"url\..+|http\..+|credential\..+|core\.sshcommand")
"""Only a clone without all objects ever fetches any."""

_RUNS_NOTHING = re.compile(
    r"core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|bigfilethreshold"
    r"|compression|loosecompression|protect\w+|longpaths|sharedrepository|fsync\w*)"
    r"|extensions\.(objectformat|partialclone|compatobjectformat)|remote\..+\.(url|fetch|promisor|partialclonefilter)"
    r"|lfs\.(?!extension\.).+|pack\.\w+"
)
_LFS = ("clean", "smudge", "process")
_LARGEST_LIST = 1 << 20
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"})


class Setting(msgspec.Struct, frozen=True):
    scope: str
    """Where it stands: `system`, `global`, `local`, `worktree` or `command`."""
    key: str
    value: str | None
    """None: the key stands alone, which means true."""


def read_settings(folder: Path) -> tuple[Setting, ...]:
    """All settings in their order: a later one wins. This is the only call that reads the person's own files."""
    place = Place(folder, reads_home=True)
    done = git(place, "config", "--list", "-z", "--show-scope", "--includes", accept=(), longest=PATIENCE)
    fields = iter(done.fields if done.code == 0 else ())
    return tuple(_setting(scope, text) for scope, text in zip(fields, fields, strict=False))


def _setting(scope: str, text: str) -> Setting:
    key, newline, value = text.partition("\n")
    return Setting(scope, key, value if newline else None)


def effective(settings: Iterable[Setting]) -> dict[str, str]:
    return {setting.key: setting.value or "" for setting in settings}


def in_the_checkout(settings: Iterable[Setting]) -> Iterator[tuple[str, str]]:
    """Variables that give git the person's own settings, as they were, without the files of the home folder.

    A driver for merges is a program, and may be a file of the project: files with such a driver conflict instead.
    """
    settings = tuple(settings)
    known = [setting for setting in settings if setting.scope != _COMMAND]
    given = [(pair.key, pair.value) for pair in settings if pair.scope == _COMMAND and not _is_fixed(pair.key)]
    local = {setting.key for setting in known if setting.scope not in _THE_PERSONS_OWN}
    fetches = any(key.startswith("extensions.partialclone") or key.endswith(".promisor") for key in local)
    kept = [
        (setting.key, setting.value)
        for setting in known
        if setting.scope in _THE_PERSONS_OWN
        and setting.key not in local
        and (_IN_THE_CHECKOUT.fullmatch(setting.key) or (fetches and _FETCHES.fullmatch(setting.key)))
    ]
    drivers = {pair.key for pair in settings if pair.key.startswith("merge.") and pair.key.endswith(".driver")}
    found = [*kept, *given, *((key, "false") for key in sorted(drivers))]
    if found:
        yield "GIT_CONFIG_COUNT", str(len(found))
        for number, (key, value) in enumerate(found):
            yield f"GIT_CONFIG_KEY_{number}", key
            yield f"GIT_CONFIG_VALUE_{number}", "true" if value is None else value


def _is_fixed(key: str) -> bool:
    """Settings that every call of ours gets anyway; they are in the list because this list was read by such a call."""
    return _IN_THE_CHECKOUT.fullmatch(key) is None and _FETCHES.fullmatch(key) is None


def for_our_folder(settings: Iterable[Setting], common_dir: Path) -> str:
    """The text of a settings file under which git runs no program of the repository and none of an agent."""
    settings = tuple(settings)
    kept = [(setting.key, setting.value) for setting in settings if _RUNS_NOTHING.fullmatch(setting.key)]
    values = effective(settings)
    version = "1" if any(key.startswith("extensions.") for key, _ in kept) else "0"
    lfs = _lfs(values, common_dir)
    return written([*kept, ("core.repositoryformatversion", version), ("core.bare", "false"), *lfs])


def written(pairs: Iterable[tuple[str, str | None]]) -> str:
    """The text of a settings file."""
    return "".join(_lines(pairs))


def _lfs(values: dict[str, str], common_dir: Path) -> Iterator[tuple[str, str | None]]:
    program = own_program("git-lfs")
    if program is None:
        return
    wanted = [name for name in _LFS if values.get(f"filter.lfs.{name}")]
    for name in wanted:
        words = "filter-process" if name == "process" else f"{name} -- %f"
        yield f"filter.lfs.{name}", f"{shlex.quote(program)} {words}"
    if wanted and "lfs.storage" not in values:
        yield "lfs.storage", str(common_dir / "lfs")


def _lines(pairs: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    for key, value in pairs:
        section, _, rest = key.partition(".")
        inner, _, name = rest.rpartition(".")
        if "\n" in inner:
            continue  # git has no way to write it
        escaped = inner.replace("\\", "\\\\").replace('"', '\\"')
        yield f'[{section} "{escaped}"]\n' if inner else f"[{section}]\n"
        yield f"\t{name}\n" if value is None else f'\t{name} = "{value.translate(_ESCAPES)}"\n'


def own_list(configured: str | None, name: str) -> bytes:
    """The person's own list of this name, for all repositories."""
    default = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "git", name)
    path = Path(os.path.expanduser(configured or default))  # noqa: PTH111 - never raises
    return read_plain(path, _LARGEST_LIST, follows=True)
