"""Files that a repository brings: what is read of them is what they say, or they are refused with a reason."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec
import yaml

from aotloop.config.sources import load
from aotloop.errors import AotError, StateFileInvalid
from aotloop.importers.formats import read_plan
from aotloop.statefile.document import Document
from aotloop.statefile.phases import phase_reader, strict_json
from aotloop.statefile.reader import decode, examine, split
from faults.fuzzing.scratch import a_folder

_LONGEST = 20_000


def state_file(data: bytes) -> None:
    """Both readers agree with each other, and with PyYAML on whether it is YAML at all."""
    data = data[:_LONGEST]
    try:
        loop = decode(data)
    except StateFileInvalid as error:
        assert error.findings
        assert str(error)
        examined = examine(data)
        assert examined.loop is None or examined.errors, "one reader refuses what the other takes"
        return
    assert examine(data).loop == loop, "the readers do not agree"
    yaml.load(split(data).yaml, Loader=yaml.CSafeLoader)


def state_file_changed(data: bytes) -> None:
    """What can be read can be changed, and says afterwards what it was changed to; what is below stays."""
    data = data[:_LONGEST]
    try:
        document = Document(data)
    except StateFileInvalid:
        return
    loop = document.loop()
    loop.atoms.reverse()
    loop.bindings.clear()
    revised = document.revise(loop)
    assert decode(revised) == loop
    assert split(revised).tail == split(data).tail


def phase_file(data: bytes) -> None:
    try:
        loop = phase_reader.decode(data)
    except StateFileInvalid as error:
        assert error.findings
        assert str(error)
        return
    written = phase_reader.encode(loop, data)
    assert phase_reader.decode(written) == loop
    assert phase_reader.encode(loop, written) == written
    later = msgspec.structs.replace(loop, feature="another")
    assert phase_reader.decode(phase_reader.encode(later, data)) == later


def strict_json_text(data: bytes) -> None:
    try:
        value = strict_json.parse(data)
    except StateFileInvalid as error:
        assert error.findings
        return
    assert strict_json.parse(strict_json.render(value, data)) == value


@lru_cache(maxsize=1)
def _folder() -> Path:
    return a_folder()


def config(data: bytes) -> None:
    """What it asks for is either in its permissions, which a person is shown, or harmless."""
    folder = _folder()
    (folder / "aot.toml").write_bytes(data)
    try:
        found = load(folder, environ={"HOME": str(folder / "home")})
    except AotError as error:
        assert str(error)
        return
    shown = "\n".join(found.permissions)
    for name, agent in found.agents.items():
        assert all(word in shown for word in agent.argv), (name, agent.argv, shown)
        assert all(word in shown for word in agent.pass_env), (name, agent.pass_env)
    assert found.setup is None or found.setup in shown


def plan(data: bytes) -> None:
    for name in ("plan.md", "prd.json", "tasks.json"):
        try:
            read_plan(data, name)
        except AotError as error:
            assert str(error)
