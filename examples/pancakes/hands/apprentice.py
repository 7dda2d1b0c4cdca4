"""Stands in for a coding agent, so that the demo needs no API key: what it writes lies ready beside it.

All else is as with a real one. It is given a prompt, works in a git worktree of its own, and leaves an answer in JSON.
What it says is not believed; checks decide.
"""

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

PACE = float(os.environ.get("PACE", "1"))
READY = Path(__file__).with_suffix("")
KNOWN = {
    "kitchen/reading.py": "read_recipe(text) gives title, guests and ingredients",
    "kitchen/scaling.py": "scaled(ingredients, guests, wanted) gives lines for a card",
    "kitchen/__main__.py": "python3 -m kitchen FILE GUESTS prints the card",
}
PARTS = [
    {"name": "reading", "description": "Read a recipe (kitchen/reading.py)"},
    {"name": "scaling", "description": "Scale it for more guests (kitchen/scaling.py)"},
    {"name": "main", "description": "Print it (kitchen/__main__.py)", "depends_on": ["reading", "scaling"]},
]


def main(prompt, answer):
    say("reading the prompt")
    task = re.search(r"^# Your atom\n((?:>.*\n)+)", prompt.read_text(encoding="utf-8"), re.MULTILINE)[1]
    file = next((file for file in KNOWN if f"({file})" in task), None)
    if file is not None:
        said = write(file)
    elif "From a file to a card" in task:
        said = propose()
    elif "Make this hold" in task and "floats" in task:
        said = {"success": False, "reason": "A float is never a third", "because_of": ["floats"]}
    else:
        said = {"success": False, "reason": "I am a script, and know nothing but my three files"}
    answer.write_text(json.dumps(said), encoding="utf-8")


def propose():
    say("this is three things, not one")
    reason = "Reading, scaling and printing are easier one by one"
    return {"success": False, "reason": reason, "proposal": {"reason": reason, "children": PARTS}}


def write(file):
    say(f"writing {file}")
    shutil.copyfile(READY / Path(file).name, file)
    return {"success": True, "bindings_delta": {"summary": KNOWN[file], "artifacts": [file]}}


def say(text):
    print(text, flush=True)
    time.sleep(PACE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
