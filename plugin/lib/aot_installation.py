"""Finds the aotloop installation that this plugin belongs to, and runs one of its scripts there.

Any `python3` may start it, so it uses only what every Python 3 understands. In order: the installation the
plugin lies in (a wheel's site-packages, or a checkout with its .venv), this interpreter, the one that `aot plugin
install` noted for a client that copies plugins, the one behind `aot` on PATH.
"""

import atexit
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 11)
TRIED = "AOT_TRIED_INTERPRETERS"
ADVICE = "aotloop is not installed for this plugin; install it with `uv tool install aotloop` or `pipx install aotloop`"


def run(script):
    if sys.version_info >= OLDEST:
        run_here = load()
        if run_here is not None:
            os.environ.pop(TRIED, None)  # what the script starts is a new beginning
            end(run_here(script, sys.argv[1:]))
    for interpreter in interpreters():
        if interpreter not in tried():
            os.environ[TRIED] = os.pathsep.join(tried() + [interpreter])
            try:
                os.execv(interpreter, [interpreter] + sys.argv)
            except OSError:
                continue
    print('{"success": false, "error": "%s"}' % ADVICE)
    sys.exit(1)


def end(code):
    """Without the clean-up of the interpreter, which takes a tenth of the time of a script."""
    atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(code)


def tried():
    """Interpreters that were started already, each by the one before it: none is started twice."""
    return [one for one in os.environ.get(TRIED, "").split(os.pathsep) if one]


def load():
    """The function that runs scripts, if this interpreter has the right installation."""
    owner = owner_of_plugin()
    if owner is not None and owner not in sys.path:
        if any(is_program(one) and one not in tried() for one in owned_interpreters(owner)):
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
            if is_program(interpreter):
                yield interpreter
    noted = noted_interpreter()
    if noted is not None and is_program(noted):
        yield noted
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        command = os.path.join(folder, "aot")
        if os.path.isabs(folder) and is_program(command):  # a relative entry would let any folder name a program
            interpreter = interpreter_behind(command)
            if interpreter is not None and is_program(interpreter):
                yield interpreter


def noted_interpreter():
    """Only absolute paths count, here as there: a relative one could lead into a repository."""
    data = os.environ.get("XDG_DATA_HOME", "")
    folder = data if os.path.isabs(data) else os.path.join(os.path.expanduser("~"), ".local", "share")
    try:
        with open(os.path.join(folder, "aotloop", "interpreter"), "rb") as file:
            path = os.fsdecode(file.readline(4096)).strip()
    except OSError:
        return None
    return path if os.path.isabs(folder) and os.path.isabs(path) else None


def is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def interpreter_behind(command):
    """The interpreter an installed command names: behind `#!`, or behind exec where its path is long or has spaces."""
    try:
        with open(command, "rb") as file:
            first, second = [file.readline(1000).decode("utf-8", "replace").strip() for _ in range(2)]
    except OSError:
        return None
    if first == "#!/bin/sh" and second.startswith("'''exec' "):
        rest = second[len("'''exec' ") :]
        quote = rest[:1]
        return rest[1:].partition(quote)[0] if quote in "'\"" else rest.partition(" ")[0]
    return first[2:].strip().partition(" -")[0] if first.startswith("#!/") and "python" in first else None
