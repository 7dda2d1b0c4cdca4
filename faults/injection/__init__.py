"""Injection: text that has an effect if a program treats it as more than text, in every place for foreign text."""
