# Does the atom `words`.
set -e
. hands/say.sh
say "one egg, two eggs"
cat > kitchen/words.py <<'PY'
"""Nouns by number."""

ABBREVIATIONS = {"tsp", "tbsp"}


def plural(amount, noun):
    return noun if amount <= 1 or noun in ABBREVIATIONS else f"{noun}s"
PY
say "one tsp, two tsp"
echo "plural(amount, noun) in kitchen/words.py"
