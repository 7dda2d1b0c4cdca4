"""Finds the aotloop installation that this plugin belongs to, and runs one of its scripts there.

Started by whatever `python3` there is, so it keeps to what every Python 3 understands. In order: the installation the
plugin lies in (a wheel's site-packages, or a checkout with its .venv), this interpreter, the one behind `aot` on PATH.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 11)
REENTERED = "AOT_REENTERED"
ADVICE = "aotloop is not installed for this plugin; install it with `uv tool install aotloop` or `pipx install aotloop`"


def run(script):
    if sys.version_info >= OLDEST:
        run_here = load()
        if run_here is not None:
            os.environ.pop(REENTERED, None)  # what the script starts is a new beginning
            sys.exit(run_here(script, sys.argv[1:]))
    if not os.environ.get(REENTERED):
        for interpreter in interpreters():
            if os.access(interpreter, os.X_OK):
                os.environ[REENTERED] = "1"
                os.execv(interpreter, [interpreter] + sys.argv)
    print('{"success": false, "error": "%s"}' % ADVICE)
    sys.exit(1)


def load():
    """The function that runs scripts, if this interpreter has the right installation."""
    owner = owner_of_plugin()
    if owner is not None and owner not in sys.path:
        if not os.environ.get(REENTERED) and any(os.access(one, os.X_OK) for one in owned_interpreters(owner)):
            return None
        sys.path.insert(0, owner)
    try:
        from aotloop.scripts.run import run as run_here
    except ImportError:
        return None
    return run_here


def owner_of_plugin():
    """The folder to import aotloop from if the plugin was shipped with it: site-packages, or a checkout's src."""
    above = os.path.dirname(os.path.dirname(HERE))
    if os.path.basename(above) == "aotloop" and os.path.isfile(os.path.join(above, "errors.py")):
        return os.path.dirname(above)
    source = os.path.join(above, "src")
    return source if os.path.isfile(os.path.join(source, "aotloop", "errors.py")) else None


def owned_interpreters(owner):
    if os.path.basename(owner) == "src":
        return [os.path.join(os.path.dirname(owner), ".venv", "bin", "python")]
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(owner)))
    return [os.path.join(prefix, "bin", "python3"), os.path.join(prefix, "bin", "python")]


def interpreters():
    owner = owner_of_plugin()
    if owner is not None:
        for interpreter in owned_interpreters(owner):
            yield interpreter
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        interpreter = interpreter_behind(os.path.join(folder, "aot"))
        if interpreter is not None:
            yield interpreter


def interpreter_behind(command):
    """The interpreter named in the first line of an installed command."""
    try:
        with open(command, "rb") as file:
            first = file.readline(500).decode("utf-8", "replace").strip()
    except OSError:
        return None
    return first[2:].strip() if first.startswith("#!/") and "python" in first else None
