# Does the atom `floats_write`: it passes its own test too, and only together do the two parts fail.
set -e
. hands/say.sh
say "two digits will do"
cat >> kitchen/amounts.py <<'PY'


def write(amount):
    return f"{amount:.2f}".rstrip("0").rstrip(".")
PY
say "trying it once"
python3 -c 'from kitchen.amounts import write; assert write(1.5) == "1.5"'
echo "write(amount) in kitchen/amounts.py; I tried it: 1.5 is 1.5"
