"""`aot completion`: it prints the script with which a shell completes commands, options, atoms and groups."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_BASH = r"""_aot_completion() {
    local response completion kind value
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" _AOT_COMPLETE=bash_complete "$1")
    COMPREPLY=()
    while IFS= read -r completion; do
        kind=${completion%%,*}
        value=${completion#*,}
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$(printf '%q' "$value")") ;;
        esac
    done <<< "$response"
}
complete -o nosort -F _aot_completion aot
"""
"""Our own script: names of atoms come from the file, and click's script does not quote them."""


@click.command(
    "completion",
    epilog="""\b
Examples:
  aot completion bash >> ~/.bashrc
  aot completion zsh  >> ~/.zshrc
  aot completion fish > ~/.config/fish/completions/aot.fish
""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    if shell == "bash":
        click.echo(_BASH)
        return
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"there is no completion for {shell}")
    click.echo(script(ctx.find_root().command, {}, "aot", "_AOT_COMPLETE").source())
