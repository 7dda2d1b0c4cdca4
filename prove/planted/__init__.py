"""Faults planted in the machine, one or more for every paragraph of its guarantees: the checker has to find each."""

from __future__ import annotations

from prove.planted import alternatives, scheduling, search, work
from prove.planted.fault import Fault

FAULTS: tuple[Fault, ...] = (*scheduling.FAULTS, *search.FAULTS, *alternatives.FAULTS, *work.FAULTS)

__all__ = ["FAULTS", "Fault"]
