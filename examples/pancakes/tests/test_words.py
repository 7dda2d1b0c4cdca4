"""One egg, two eggs."""

import unittest

from kitchen.words import plural


class Words(unittest.TestCase):
    def test_one_or_less_is_singular(self):
        self.assertEqual(plural(1, "cup"), "cup")
        self.assertEqual(plural(0.5, "cup"), "cup")

    def test_more_than_one_is_plural(self):
        self.assertEqual(plural(2, "egg"), "eggs")
        self.assertEqual(plural(1.5, "cup"), "cups")

    def test_abbreviations_have_no_plural(self):
        self.assertEqual(plural(3, "tsp"), "tsp")
        self.assertEqual(plural(3, "tbsp"), "tbsp")
