# Does the atom `card`.
set -e
. hands/say.sh
say "cutting a card to size"
cat > kitchen/card.py <<'PY'
"""A title and lines in a frame."""


def card(title, lines):
    width = max(len(title) + 2, *map(len, lines))
    top = f"╭─ {title} {'─' * (width - len(title) - 1)}╮"
    rows = [f"│ {line:<{width}} │" for line in lines]
    return "\n".join([top, *rows, f"╰{'─' * (width + 2)}╯"])
PY
say "rounding its corners"
echo "card(title, lines) in kitchen/card.py"
