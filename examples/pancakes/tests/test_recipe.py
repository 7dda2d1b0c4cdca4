"""From a file to a card, for any number of guests."""

import io
import unittest
from contextlib import redirect_stdout

from kitchen.__main__ import main
from kitchen.reading import read_recipe
from kitchen.scaling import scaled

TEA = "Tea for 2\n2 cups water\n1 1/2 tsp leaves\n"


class Recipe(unittest.TestCase):
    def test_a_recipe_has_a_title_guests_and_ingredients(self):
        title, guests, ingredients = read_recipe(TEA)
        self.assertEqual((title, guests), ("Tea", 2))
        self.assertEqual([(unit, what) for _, unit, what in ingredients], [("cup", "water"), ("tsp", "leaves")])

    def test_more_guests_get_more(self):
        _, _, ingredients = read_recipe(TEA)
        self.assertEqual(scaled(ingredients, 2, 6), ["6 cups water", "1 1/2 tbsp leaves"])

    def test_it_prints_a_card(self):
        with redirect_stdout(io.StringIO()) as printed:
            main(["pancakes.txt", "12"])
        self.assertIn("4 1/2 cups flour", printed.getvalue())
        self.assertIn("3 eggs", printed.getvalue())
