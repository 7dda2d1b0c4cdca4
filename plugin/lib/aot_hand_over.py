"""A call that is ours is handed over to aotloop: in this interpreter if that can load it, else in the one that can."""

import gc
import os
import sys

import aot_installation as installation
from aot_quick import NOTHING, complain


def decided(event, told, state_file, phase_file, data):
    gc.disable()  # it would find nothing to collect, again and again
    run = load()
    if run is not None:
        os.environ.pop(installation.TRIED, None)
        return run(event, told, state_file, phase_file)
    for interpreter in installation.interpreters():
        if interpreter not in installation.tried():
            os.environ[installation.TRIED] = os.pathsep.join(installation.tried() + [interpreter])
            give_again(data)
            try:
                os.execv(interpreter, [interpreter, "-I"] + sys.argv)
            except OSError:
                continue
    complain(installation.ADVICE)
    return NOTHING


def load():
    """`run` of the installation that the plugin belongs to. It is loaded without `site`, which takes its time."""
    if sys.version_info < installation.OLDEST:
        return None
    owner = installation.owner_of_plugin()
    folders = packages(owner) if owner is not None else []
    if owner is not None and not folders:
        return None  # made for another interpreter
    if owner is None and sys.flags.no_site:
        import site

        site.main()
    sys.path.extend(folders)
    try:
        from aotloop.hooks.entry import run
    except ImportError:
        return None
    return run


def packages(owner):
    """Where this interpreter finds aotloop and what it needs; nothing if that is for another version of Python."""
    version = "python%d.%d" % sys.version_info[:2]
    if os.path.basename(owner) != "src":
        return [owner] if os.path.basename(os.path.dirname(owner)) == version else []
    needed = os.path.join(os.path.dirname(owner), ".venv", "lib", version, "site-packages")
    return [owner, needed] if os.path.isdir(needed) else []


def give_again(data):
    """What was read from standard input can be read once more."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("told")
    else:
        from tempfile import TemporaryFile

        with TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.dup2(descriptor, 0)
