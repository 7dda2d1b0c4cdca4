"""Commands that change a loop by hand: atoms, choices, undo."""
