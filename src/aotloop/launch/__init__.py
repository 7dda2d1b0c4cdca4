"""How a run is made ready: what may not start is refused before anything is changed, with what to do about it."""

from aotloop.launch.launching import Wishes, run_loop

__all__ = ["Wishes", "run_loop"]
