"""Hooks of interactive clients: a pure `decide` for each hook, and one thin `run` that reads, decides and answers.

They only steer the session that entered the loop. An error in a hook never harms a session.
"""

from __future__ import annotations

from aotloop.lean_imports import import_msgspec

import_msgspec()
