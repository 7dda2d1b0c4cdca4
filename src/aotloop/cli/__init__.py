"""The command line: one file per command."""

from __future__ import annotations

from aotloop.lean_imports import import_click

import_click()
