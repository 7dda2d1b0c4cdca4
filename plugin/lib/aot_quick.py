"""Whether a call of a hook is any of ours is decided here, with os alone: most are not, and each one costs the session.

Only then is aotloop loaded, which decides. After any error, the answer is an empty object and the exit code 0: the
session goes on as if there were no hook. Like all of the plugin, this keeps to what every Python 3 understands.
"""

import os
import sys

NOTHING = b"{}\n"
FOLDER = ".claude"
STATE_FILE = "aot-loop-state.md"
PHASE_FILE = "autonomous-loop.json"
PLUGIN = "aot-loop"
COMMANDS = {
    "enter-recursion": STATE_FILE,
    "ship": PHASE_FILE,
    "ship-status": PHASE_FILE,
    "ship-cancel": PHASE_FILE,
}
"""Which file each is about."""
ALL_COMMANDS = (*COMMANDS, "align-goal", "exit-recursion", "loop-status", "redirect")
AS_SKILL = "source-command-"
"""What Codex calls the skills it makes of commands begins so. Codex does not say in them where the plugin is."""
ABOUT_A_FEATURE = ("Stop", "UserPromptSubmit", "SessionStart", "PreCompact", "PreToolUse")
PROTECTING = {STATE_FILE: b"protect", PHASE_FILE: b'"spec_test"'}
"""Without these words in it, a file protects nothing: no acceptance tests were filed yet."""
COORDINATOR = PLUGIN + ":coordinator"
ONLY_LOOKING = (PLUGIN + ":probe", PLUGIN + ":verifier")
WRITING = ("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")
SHELL = "Bash"
STARTING = ("Agent", "Task")
STOPPING = ("TaskStop", "KillShell")
NOTICE = "<task-notification>"
"""What a client says, as if the person had typed it, when an agent in the background has ended."""


def main(arguments):
    try:
        answer = answer_to(arguments[0], sys.stdin.buffer.read())
    except BaseException as error:  # noqa: BLE001 - see the first lines
        complain("%s: %s" % (type(error).__name__, error))
        answer = NOTHING
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.flush()
    finally:  # also if the reader is gone; and without the slow clean-up at the end of a process
        os._exit(0)


def complain(words):
    """Writes one line. Clients show it only on request."""
    try:
        sys.stderr.write("aot-loop: " + " ".join(words.split())[:500] + "\n")
    except OSError:
        return


def answer_to(event, data):
    told = parsed(data)
    if not isinstance(told, dict) or not is_of_interest(event, told):
        return NOTHING
    found = loop_files(told.get("cwd"), os.environ)
    ours = {kind: path for kind, path in found.items() if is_ours(event, told, kind, path)}
    if is_of_codex(told):
        told["plugin_folder"] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if ours or is_of_codex(told) or is_writing_by_one_who_looks(event, told) or is_about_a_new_loop(event, told):
        from aot_hand_over import decided

        return decided(event, told, ours.get(STATE_FILE), ours.get(PHASE_FILE), data)
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
    if event in ("SubagentStart", "SubagentStop"):
        return agent == COORDINATOR
    if event == "UserPromptSubmit":
        return command_in(told.get("prompt")) in COMMANDS or is_notice(told) or is_of_codex(told)
    if event == "PreToolUse":
        return told.get("tool_name") == SHELL or told.get("tool_name") in WRITING or starts_a_coordinator(told)
    if event in ("PostToolUse", "PostToolUseFailure"):
        return told.get("tool_name") in STOPPING or starts_a_coordinator(told)
    return event in ("Stop", "SessionStart", "PreCompact") and agent is None


def command_in(prompt):
    """Without its prefixes."""
    first = prompt.split(None, 1)[:1] if isinstance(prompt, str) else []
    if not first or first[0][:1] not in ("/", "$"):
        return None
    name = first[0][1:]
    for prefix in (PLUGIN + ":", AS_SKILL):
        name = name.removeprefix(prefix)
    return name


def is_of_codex(told):
    """A command of ours that was typed in Codex, which alone has turns with a name."""
    return isinstance(told.get("turn_id"), str) and command_in(told.get("prompt")) in ALL_COMMANDS


def is_notice(told):
    return isinstance(told.get("prompt"), str) and told["prompt"].startswith(NOTICE)


def names_one_in(content, notice):
    """Whether the agent that has ended is the one that the file names."""
    agent = notice.partition("<task-id>")[2].partition("<")[0].strip()
    return bool(agent) and agent.encode("utf-8", "replace") in content


def starts_a_coordinator(told):
    given = told.get("tool_input")
    return told.get("tool_name") in STARTING and isinstance(given, dict) and given.get("subagent_type") == COORDINATOR


def is_about_a_new_loop(event, told):
    """What a person wants shipped is heard before there is a file for it."""
    return event == "UserPromptSubmit" and COMMANDS.get(command_in(told["prompt"])) == PHASE_FILE


def is_writing_by_one_who_looks(event, told):
    return event == "PreToolUse" and told.get("tool_name") in WRITING and told.get("agent_type") in ONLY_LOOKING


# --- the loops ---------------------------------------------------------------------------------------------------


def loop_files(cwd, environ):
    """As aotloop.statefile.locate finds them: from where the agent is or, if it went away, from its project."""
    found = {}
    if environ.get("AOT_STATE_FILE"):
        named = os.path.abspath(environ["AOT_STATE_FILE"])
        found[STATE_FILE] = named if os.path.isfile(named) else None
    project = environ.get("CLAUDE_PROJECT_DIR")
    for start in (cwd, project if project != cwd else None):
        if isinstance(start, str) and os.path.isabs(start):
            look_upwards(start, found)
    return {name: path for name, path in found.items() if path is not None}


def look_upwards(folder, found):
    """For what was not found yet; both in one walk."""
    folder = os.path.normpath(folder)
    while True:
        place = os.path.join(main_checkout(folder) or folder, FOLDER)
        if os.path.isdir(place):
            for name in (STATE_FILE, PHASE_FILE):
                if name not in found and os.path.isfile(os.path.join(place, name)):
                    found[name] = os.path.join(place, name)
        parent = os.path.dirname(folder)
        if parent == folder or len(found) == 2:
            return
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


def is_ours(event, told, kind, path):
    if event == "UserPromptSubmit" and not is_notice(told):
        return kind == COMMANDS.get(command_in(told["prompt"]))
    if kind == PHASE_FILE and (event not in ABOUT_A_FEATURE or is_notice(told) or starts_a_coordinator(told)):
        return False
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return False
    if told["session_id"].encode("utf-8", "replace") not in content:
        return False
    if is_notice(told):
        return names_one_in(content, told["prompt"])
    return event != "PreToolUse" or may_be_denied(told, os.path.basename(path), PROTECTING[kind] in content)


def may_be_denied(told, name, protects):
    given = told.get("tool_input")
    if not isinstance(given, dict):
        return False
    if starts_a_coordinator(told):
        return True
    if told["tool_name"] == SHELL:
        return name in str(given.get("command"))
    return protects or name.lower() in str(list(given.values())).lower() or has_other_names(path_in(given))


def path_in(given):
    return given.get("file_path") or given.get("notebook_path")


def has_other_names(path):
    """A link may lead to the loop's file."""
    return isinstance(path, str) and os.path.islink(path)
