# Does the atom `fractions`: the other way.
set -e
. hands/say.sh
say "a third is a third is a third"
cat > kitchen/amounts.py <<'PY'
"""Amounts as fractions, which is what cooks use."""

from fractions import Fraction


def read(text):
    return sum((Fraction(word) for word in text.split()), Fraction(0))


def write(amount):
    whole, rest = divmod(amount, 1)
    return " ".join(str(part) for part in (whole, rest) if part) or "0"
PY
say "1/3 comes back as 1/3"
echo "read(text) and write(amount) in kitchen/amounts.py, exact"
