"""Forty-eight teaspoons are one cup."""

import unittest

from kitchen.units import sensible


class Units(unittest.TestCase):
    def test_small_amounts_stay_as_they_are(self):
        self.assertEqual(sensible(2, "tsp"), (2, "tsp"))
        self.assertEqual(sensible(9, "tbsp"), (9, "tbsp"))

    def test_many_spoons_become_bigger_spoons_and_cups(self):
        self.assertEqual(sensible(6, "tsp"), (2, "tbsp"))
        self.assertEqual(sensible(32, "tbsp"), (2, "cup"))
        self.assertEqual(sensible(48, "tsp"), (1, "cup"))

    def test_what_is_counted_is_not_converted(self):
        self.assertEqual(sensible(12, "egg"), (12, "egg"))
