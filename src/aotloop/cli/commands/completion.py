"""`aot completion`: it prints the script with which a shell completes commands, options, atoms and groups."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


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
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"there is no completion for {shell}")
    click.echo(script(ctx.find_root().command, {}, "aot", "_AOT_COMPLETE").source())
