"""The checkout of the person: only this package examines, moves and restores it."""
