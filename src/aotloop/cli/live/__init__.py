"""Shows a run to the user: as a picture that is redrawn on a terminal, elsewhere as lines.

watching = spectator(as_json=…)
watching.open(loop)
try:
    …    watching.loop_changed(loop), .news(…), .output(attempt, line)
finally:
    watching.close()
"""

from aotloop.app.history.event_words import words
from aotloop.cli.live.observers import spectator
from aotloop.execution.observer import Observer

__all__ = ["Observer", "spectator", "words"]
