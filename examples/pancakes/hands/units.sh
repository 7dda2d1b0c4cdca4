# Does the atom `units`. What writes the code is a command here; it could as well be a generator or a codemod of yours.
set -e
. hands/say.sh
say "looking up how many spoons are a cup"
cat > kitchen/units.py <<'PY'
"""Amounts in the biggest unit of which there is at least one."""

BIGGER = {"tsp": (3, "tbsp"), "tbsp": (16, "cup")}


def sensible(amount, unit):
    while unit in BIGGER and amount >= BIGGER[unit][0]:
        count, unit = BIGGER[unit]
        amount = amount / count
    return amount, unit
PY
say "tasting kitchen/units.py"
echo "3 tsp are 1 tbsp, 16 tbsp are 1 cup: sensible(amount, unit) in kitchen/units.py"
