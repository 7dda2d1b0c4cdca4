"""Small atoms with the real clients: one conversation looks at the repository once, and the bills stay right."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from aotloop.core.model import Constraints, Used
from tests.execution.conversations import left_by_conversations
from tests.loops import atom
from tests.modelserver import ModelServer, Script, Turn, Usage
from tests.modelserver.clients import needs_claude
from tests.modelserver.exchange import Exchange
from tests.modelserver.operators import DONE, config_of, each_client, environ_of, patch, shell
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

ATOMS = 4
LOOKS = 3
"""Requests in which a model that knows nothing of the repository looks around before it begins."""
_ATOM = re.compile(r"atom (A\d+)")
_TREE = re.compile(rb"(/[^\s\"'\\<>]*/aot-[0-9a-f]{10})")


class Model:
    """It looks around once in a conversation; of each atom it writes a file, and says that it is done."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._steps: Counter[tuple[tuple[str, str], str]] = Counter()
        self._looks: Counter[tuple[str, str]] = Counter()

    def turn(self, exchange: Exchange) -> Turn:
        name = next(found[-1] for text in reversed(exchange.texts) if (found := _ATOM.findall(text)))
        if self._looks[exchange.conversation] < LOOKS:
            self._looks[exchange.conversation] += 1
            return shell(self._client, "cat README.md")
        self._steps[exchange.conversation, name] += 1
        if self._steps[exchange.conversation, name] > 1:
            return DONE
        (tree,) = {Path(one.decode()) for one in _TREE.findall(str(exchange.body).encode())}
        return patch(self._client, tree / f"{name}.txt", f"{name}\n")

    @property
    def scripts(self) -> list[Script]:
        return [Script("atom A", [self.turn] * (ATOMS * (LOOKS + 2)))]


def small_atoms(folder: Path, client: str, more: str = "") -> tuple[Project, ModelServer]:
    names = [f"A{number}" for number in range(1, ATOMS + 1)]
    with ModelServer(Model(client).scripts) as server:
        model = 'model = "gpt-5.5"\n' if client == "codex" else ""
        project = a_project(
            folder,
            *(atom(name) for name in names),
            base_case=" && ".join(f"test -f {name}.txt" for name in names),
            config=more + config_of(client, model),
            environ=environ_of(client, server),
            constraints=Constraints(max_parallel_agents=1),
        )
        ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert server.lost == []
    assert (leftovers(project), left_by_conversations(project.root)) == ([], [])
    return project, server


def counted(used: Used) -> Usage:
    return Usage(input=used.input, output=used.output, cache_read=used.cache_read, cache_write=used.cache_write)


@each_client
def test_one_conversation_looks_once_and_each_attempt_pays_for_itself(tmp_path: Path, client: str) -> None:
    project, server = small_atoms(tmp_path, client)
    assert len(server.played) == LOOKS + 2 * ATOMS
    assert len({one.exchange.session for one in server.played}) == 1
    total = sum(server.usage.values(), Usage(input=0, output=0))
    each = [Used(**one["used"]) for one in project.news() if one["kind"] == "attempt_ended"]
    assert counted(project.loop.control.used) == total
    assert sum((counted(one) for one in each), Usage(input=0, output=0)) == total
    assert len(each) == ATOMS


@needs_claude
def test_without_sittings_everybody_looks_for_themselves(tmp_path: Path) -> None:
    _, server = small_atoms(tmp_path, "claude", "max_sitting = 1\n")
    assert len(server.played) == (LOOKS + 2) * ATOMS
    assert len({one.exchange.session for one in server.played}) == ATOMS
