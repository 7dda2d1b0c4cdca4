"""A recipe is printed on a card."""

import unittest

from kitchen.card import card


class Card(unittest.TestCase):
    def test_a_card_has_a_title_and_a_line_for_each_thing(self):
        self.assertEqual(
            card("Tea for 2", ["2 cups water", "1 tsp leaves"]),
            "╭─ Tea for 2 ──╮\n│ 2 cups water │\n│ 1 tsp leaves │\n╰──────────────╯",
        )

    def test_a_long_title_makes_it_wide(self):
        top, *_, bottom = card("Something long", ["1 egg"]).splitlines()
        self.assertEqual(len(top), len(bottom))
