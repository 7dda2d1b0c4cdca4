"""Values of the core: frozen, named at the call, and unsaid fields mean what the file format says."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

import aotloop.core
from aotloop.core import effects, events, model
from aotloop.core.checks.checklist import AllOf, AnyOf, Leaf
from aotloop.core.context import Context
from aotloop.core.findings import Finding
from aotloop.core.gate import Gate
from aotloop.core.phases import model as phase_model
from aotloop.core.phases import model as phase_settings
from aotloop.core.phases.receipts import Proof, Row

CHANGEABLE = {model.Loop}
"""Their containers change; all that is in them is replaced."""


POSITIONAL = {AllOf, AnyOf, Finding, Gate, Leaf, Proof, Row}
"""They are written in tables, or are of two or three fields."""


def _values() -> Iterator[type[msgspec.Struct]]:
    for found in walk_packages(aotloop.core.__path__, "aotloop.core."):
        for one in vars(import_module(found.name)).values():
            if isinstance(one, type) and issubclass(one, msgspec.Struct) and one.__module__ == found.name:
                yield one


VALUES = list(_values())


def test_a_value_is_replaced_and_never_changed() -> None:
    assert {kind for kind in VALUES if not kind.__struct_config__.frozen} == CHANGEABLE


def test_fields_are_named_at_the_call() -> None:
    for kind in VALUES:
        if fields(kind) and kind not in POSITIONAL:
            with pytest.raises(TypeError, match="Extra positional"):
                kind(None)


UNLESS_SAID = {
    model.Constraints: {"effort": "normal", "max_parallel_agents": 3, "max_depth": 3, "max_children": 8},
    model.Objective: {"constraints": model.Constraints()},
    model.Control: {
        "used": model.Used(), "generation": model.Generation(), "steering": model.Steering(), "prices": model.Prices(),
    },
    model.TrailEntry: {"type": "selection"},
    events.Spent: {"used": model.Used()},
    effects.CancelAttempt: {"discard": True},
    Context: {"may_split": True},
    phase_model.PhaseLoop: {
        "version": 2, "max_iterations": 50, "max_phase_iterations": 10, "max_fix_cycles": 3, "budget_limit_usd": 20,
        "completion_promise": "SHIPPED", "status": "running", "artifacts": phase_model.Artifacts(),
    },
    phase_settings.ShipSettings: {"test_timeout": 600.0},
}  # fmt: skip


def test_what_is_not_said_is_nothing_but_for_what_is_documented() -> None:
    meant = {kind: {name: value for name, value in _unless_said(kind) if value} for kind in VALUES}
    assert {kind: values for kind, values in meant.items() if values} == UNLESS_SAID


def _unless_said(kind: type[msgspec.Struct]) -> Iterator[tuple[str, Any]]:
    for field in fields(kind):
        if field.default is not msgspec.NODEFAULT:
            yield field.name, field.default
        elif field.default_factory is not msgspec.NODEFAULT:
            yield field.name, field.default_factory()
