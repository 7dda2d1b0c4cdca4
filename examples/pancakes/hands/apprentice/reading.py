"""A recipe is a title with a number of guests, and a line for each ingredient: amount, unit, what it is."""

from kitchen import amounts


def read_recipe(text):
    first, *lines = text.strip().splitlines()
    title, _, guests = first.rpartition(" for ")
    return title, int(guests), [_ingredient(line) for line in lines]


def _ingredient(line):
    words = line.split()
    count = next(number for number, word in enumerate(words) if not word[0].isdigit())
    unit, *what = words[count:]
    unit = unit.removesuffix("s") if unit in {"cups", "eggs"} else unit
    return amounts.read(" ".join(words[:count])), unit, " ".join(what)
