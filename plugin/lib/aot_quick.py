"""Whether a call of a hook is any of ours is decided here, with os alone: most are not, and each one costs the session.

Only then is aotloop loaded, which decides. Whatever goes wrong, the answer is an empty object and the exit code 0: the
session goes on as if there were no hook. Like all of the plugin, this keeps to what every Python 3 understands.
"""

import os
import sys

NOTHING = b"{}\n"
STATE_FILE = os.path.join(".claude", "aot-loop-state.md")
PLUGIN = "aot-loop"
COMMANDS = ("enter-recursion", "source-command-enter-recursion")
"""The second is what Codex calls the skill it makes of the first."""
COORDINATOR = PLUGIN + ":coordinator"
ONLY_LOOKING = (PLUGIN + ":probe", PLUGIN + ":verifier")
WRITING = ("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")
SHELL = "Bash"


def main(arguments):
    try:
        answer = answer_to(arguments[0], sys.stdin.buffer.read())
    except BaseException as error:  # noqa: BLE001 - see the first lines
        complain("%s: %s" % (type(error).__name__, error))
        answer = NOTHING
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.flush()
    finally:  # if nobody listens any more, too; and without the cleaning up that ends a process, which takes its time
        os._exit(0)


def complain(words):
    """One line, for whoever looks for it: clients show it only when asked to."""
    try:
        sys.stderr.write("aot-loop: " + " ".join(words.split())[:500] + "\n")
    except OSError:
        return


def answer_to(event, data):
    told = parsed(data)
    if not isinstance(told, dict) or not is_of_interest(event, told):
        return NOTHING
    path = state_file(told.get("cwd"), os.environ)
    if is_writing_by_one_who_looks(event, told) or (path is not None and is_ours(event, told, path)):
        from aot_hand_over import decided

        return decided(event, told, path, data)
    return NOTHING


# --- what was told -----------------------------------------------------------------------------------------------


class Rules:
    """Those of json.loads."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def parsed(data):
    """As json.loads, whose modules take half as long to import as an interpreter takes to start."""
    text = data.decode("utf-8").strip(" \t\r\n")
    try:
        from _json import make_scanner
    except ImportError:
        from json import loads

        return loads(text)
    value, end = make_scanner(Rules)(text, 0)
    if end != len(text):
        raise ValueError("more than one value was told")
    return value


def is_of_interest(event, told):
    if not isinstance(told.get("session_id"), str) or not told["session_id"]:
        return False
    agent = told.get("agent_type")
    if event == "SubagentStop":
        return agent == COORDINATOR
    if event == "UserPromptSubmit":
        return is_command(told.get("prompt"))
    if event == "PreToolUse":
        return told.get("tool_name") == SHELL or told.get("tool_name") in WRITING
    return event in ("Stop", "SessionStart", "PreCompact") and agent is None


def is_command(prompt):
    first = prompt.split(None, 1)[:1] if isinstance(prompt, str) else []
    if not first or first[0][:1] not in ("/", "$"):
        return False
    name = first[0][1:]
    return (name[len(PLUGIN) + 1 :] if name.startswith(PLUGIN + ":") else name) in COMMANDS


def is_writing_by_one_who_looks(event, told):
    return event == "PreToolUse" and told.get("tool_name") in WRITING and told.get("agent_type") in ONLY_LOOKING


# --- the loop ----------------------------------------------------------------------------------------------------


def state_file(cwd, environ):
    """As aotloop.statefile.locate finds it, from where the agent is or, if it went away, from its project."""
    if environ.get("AOT_STATE_FILE"):
        named = os.path.abspath(environ["AOT_STATE_FILE"])
        return named if os.path.isfile(named) else None
    for start in (cwd, environ.get("CLAUDE_PROJECT_DIR")):
        found = upwards(start) if isinstance(start, str) and os.path.isabs(start) else None
        if found is not None:
            return found
    return None


def upwards(folder):
    folder = os.path.normpath(folder)
    while True:
        candidate = os.path.join(main_checkout(folder) or folder, STATE_FILE)
        if os.path.isfile(candidate):
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def main_checkout(folder):
    """If this folder is the top of a linked git worktree: its copy of the file is not the state."""
    try:
        with open(os.path.join(folder, ".git"), "rb") as pointer:
            line = os.fsdecode(pointer.readline(10000)).strip()
    except OSError:
        return None
    gitdir = line[len("gitdir:") :].strip() if line.startswith("gitdir:") else line
    common, name = os.path.split(os.path.dirname(os.path.normpath(os.path.join(folder, gitdir))))
    return os.path.dirname(common) if name == "worktrees" and os.path.basename(common) == ".git" else None


def is_ours(event, told, path):
    if event == "UserPromptSubmit":
        return True
    with open(path, "rb") as file:
        content = file.read()
    if told["session_id"].encode("utf-8", "replace") not in content:
        return False
    return event != "PreToolUse" or may_be_denied(told, os.path.basename(path), content)


def may_be_denied(told, name, content):
    given = told.get("tool_input")
    if not isinstance(given, dict):
        return False
    if told["tool_name"] == SHELL:
        return name in str(given.get("command"))
    return b"protect" in content or name.lower() in str(list(given.values())).lower() or has_other_names(path_in(given))


def path_in(given):
    return given.get("file_path") or given.get("notebook_path")


def has_other_names(path):
    """A link may lead to the loop's file."""
    return isinstance(path, str) and os.path.islink(path)
