"""The way in: python3 -m kitchen FILE GUESTS"""

import sys
from pathlib import Path

from kitchen.card import card
from kitchen.reading import read_recipe
from kitchen.scaling import scaled


def main(arguments):
    file, wanted = arguments[0], int(arguments[1])
    title, guests, ingredients = read_recipe(Path(file).read_text(encoding="utf-8"))
    print(card(f"{title} for {wanted}", scaled(ingredients, guests, wanted)))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # a card has rounded corners, whatever the terminal says
    main(sys.argv[1:])
