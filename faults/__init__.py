"""Kills runs at any instant, again and again, and looks whether anything was lost, doubled or left behind."""
