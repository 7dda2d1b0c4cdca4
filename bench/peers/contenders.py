"""The contenders: their packages, the driver that makes them do the work, and what survives a crash."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
OURS = "aotloop"
SYNCED = "on disk before the next step"


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    driver: str
    keeps: str
    """What of a step that has been done survives the end of its process, and of the machine."""
    works: tuple[str, ...] = ("functions",)
    environment: str | None = None
    """Of its own, with these packages; None: it is here already."""
    packages: tuple[str, ...] = ()
    has_fan_out: bool = True
    program: str | None = None
    """Which has to be there."""

    @property
    def constraints(self) -> Path:
        return HERE / f"constraints-{self.environment}.txt"

    def interpreter(self, cache: Path) -> Path:
        return Path(sys.executable) if self.environment is None else cache / self.environment / "bin" / "python"

    @property
    def is_missing(self) -> bool:
        return self.program is not None and shutil.which(self.program) is None


CONTENDERS = (
    Contender(name=OURS, driver="ours", keeps=SYNCED, works=("functions", "commands")),
    Contender(
        name="LangGraph, one node",
        driver="langgraph_sqlite",
        keeps=SYNCED,
        environment="langgraph",
        packages=("langgraph", "langgraph-checkpoint-sqlite"),
    ),
    Contender(
        name="LangGraph, a node each",
        driver="langgraph_nodes",
        keeps=SYNCED,
        environment="langgraph",
        packages=("langgraph", "langgraph-checkpoint-sqlite"),
    ),
    Contender(name="DBOS", driver="dbos_sqlite", keeps=SYNCED, environment="dbos", packages=("dbos",)),
    Contender(
        name="Prefect",
        driver="prefect_local",
        keeps="results in files, states in a database, synced now and then",
        environment="prefect",
        packages=("prefect",),
    ),
    Contender(
        name="pydantic-graph",
        driver="pydantic_file",
        keeps="in a file that is overwritten in place, not synced",
        environment="pydantic-graph",
        packages=("pydantic-graph",),
        has_fan_out=False,
    ),
    Contender(
        name="doit",
        driver="doit_steps",
        keeps="nothing until the end of the run",
        works=("functions", "commands"),
        environment="doit",
        packages=("doit",),
    ),
    Contender(
        name="Luigi",
        driver="luigi_steps",
        keeps="a file for each step, not synced",
        works=("functions", "commands"),
        environment="luigi",
        packages=("luigi",),
    ),
    Contender(
        name="GNU make",
        driver="gnu_make",
        keeps="nothing but what the commands leave",
        works=("commands",),
        program="make",
    ),
)
