"""Amounts are read and written as cooks do: 1 1/2, not 1.5."""

import unittest

from kitchen import amounts


class Amounts(unittest.TestCase):
    def test_whole_numbers(self):
        self.assertEqual(amounts.write(amounts.read("3")), "3")

    def test_cooks_write_fractions(self):
        self.assertEqual(amounts.write(amounts.read("1/3")), "1/3")
        self.assertEqual(amounts.write(amounts.read("1 1/2")), "1 1/2")

    def test_amounts_are_multiplied_without_loss(self):
        self.assertEqual(amounts.write(amounts.read("1 1/2") * 3), "4 1/2")
