"""Shows a run to whoever watches: on a terminal as a picture that keeps up, elsewhere as lines.

watching = spectator(as_json=…)
watching.open(loop)
try:
    …    watching.loop_changed(loop), .news(…), .output(attempt, line)
finally:
    watching.close()
"""

from aotloop.cli.live.spectators import spectator
from aotloop.cli.live.words import words
from aotloop.runner.spectator import Spectator

__all__ = ["Spectator", "spectator", "words"]
