"""The same for more guests, or for fewer."""

from kitchen import amounts
from kitchen.units import sensible
from kitchen.words import plural


def scaled(ingredients, guests, wanted):
    return [_line(amount * wanted / guests, unit, what) for amount, unit, what in ingredients]


def _line(amount, unit, what):
    amount, unit = sensible(amount, unit)
    return " ".join(filter(None, (amounts.write(amount), plural(amount, unit), what)))
