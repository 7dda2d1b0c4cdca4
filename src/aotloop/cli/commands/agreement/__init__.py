"""Commands with which a person agrees on a loop: init, align, validate, gate."""
