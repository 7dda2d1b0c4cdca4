# Does the atom `floats_read`: the obvious way to read an amount, and a test that is easily passed.
set -e
. hands/say.sh
say "1/2 is 0.5, how hard can it be"
cat > kitchen/amounts.py <<'PY'
"""Amounts as floats."""


def read(text):
    total = 0.0
    for word in text.split():
        over, _, under = word.partition("/")
        total += float(over) / float(under or 1)
    return total
PY
say "trying it once"
python3 -c 'from kitchen.amounts import read; assert read("1 1/2") == 1.5'
echo "read(text) in kitchen/amounts.py; I tried it: 1 1/2 is 1.5"
