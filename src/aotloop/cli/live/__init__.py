"""Shows a run to the user: as a picture that is redrawn on a terminal, elsewhere as lines.

watching = observer_for(as_json=…)
watching.open(loop)
try:
    …    watching.loop_changed(loop), .news(…), .output(attempt, line)
finally:
    watching.close()
"""

from aotloop.app.history.event_words import words
from aotloop.cli.live.observers import observer_for
from aotloop.execution.observer import Observer

__all__ = ["Observer", "observer_for", "words"]
