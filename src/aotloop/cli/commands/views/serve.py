"""`aot serve`: it shows all loops of this machine on a web page, where a person can also steer them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from aotloop.app.overview.loop_registry import register
from aotloop.cli.ui.output import faint, tell
from aotloop.errors import StateFileMissing, Unavailable
from aotloop.extras import install_command
from aotloop.process.cancellation import sleep_until_interrupted
from aotloop.statefile.locate import find_phase_file, find_state_file
from aotloop.trust.person import refuse_agents, refuse_clients

if TYPE_CHECKING:
    from aotloop.web.server import Served

LOOPBACK = "127.0.0.1"


@click.command(
    "serve",
    epilog="""\b
Examples:
  aot serve --open                     on this machine, in the usual browser
  aot serve --read-only --port 8470    a page that cannot change anything
  aot serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
""",
)
@click.option("--host", default=LOOPBACK, show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port [default: a free one].")
@click.option("--tls-cert", type=click.Path(dir_okay=False), metavar="FILE", help="The certificate, for HTTPS.")
@click.option("--tls-key", type=click.Path(dir_okay=False), metavar="FILE", help="The key of the certificate.")
@click.option("--insecure", is_flag=True, help="Allow other machines without TLS: they can read the token.")
@click.option("--read-only", is_flag=True, help="The page only shows; nothing can be changed on it.")
@click.option("--open", "is_opened", is_flag=True, help="Open the browser; it asks for the token.")
def command(
    host: str,
    port: int,
    tls_cert: str | None,
    tls_key: str | None,
    insecure: bool,
    read_only: bool,
    is_opened: bool,
) -> None:
    """Show all loops of this machine on a web page: live, with graph, timeline, evidence and cost.

    On the page a person can also stop, redirect, confirm, accept and approve. The link below holds a token that is
    valid until this command ends. Ctrl-C ends the page, never a run.
    """
    _register()
    with served(
        host=host, port=port, tls_cert=tls_cert, tls_key=tls_key, insecure=insecure, read_only=read_only
    ) as page:
        if is_opened:
            open_browser(page)
        wait_for_interrupt()


@contextmanager
def served(**options: str | int | bool | None) -> Iterator[Served]:
    """The page is there while this lasts; its link is printed."""
    if options.get("read_only"):
        refuse_agents("only a person opens a page")
    else:
        refuse_clients(
            "only a person opens a page that can steer", "Run the command in your own terminal, or with --read-only."
        )
    try:
        from aotloop.web.server import ServerOptions, serving  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Unavailable(
            f"the web page is not installed ({error.name} is missing)", hint=f"`{install_command('web')}`"
        ) from None

    with serving(ServerOptions(**options)) as page:  # type: ignore[arg-type]  # as click parsed them
        tell(page.link, head="page   ", err=True)
        tell(faint("Everyone with this link can control your loops: keep it secret."), err=True)
        yield page


def open_browser(page: Served) -> None:
    """Without the token: what starts a browser shows its arguments to every process."""
    import webbrowser  # noqa: PLC0415 - only needed here

    if not webbrowser.open(page.url):
        tell("No browser was found; open the link yourself.", err=True)
    tell(page.token, head="token  ", err=True)


def wait_for_interrupt() -> None:
    try:
        sleep_until_interrupted()
    except KeyboardInterrupt:
        tell("The page is closed. Runs continue.", err=True)


def _register() -> None:
    """The loop and the feature of this folder are in the list, even if they never ran."""
    with suppress(StateFileMissing):
        register(find_state_file())
    with suppress(StateFileMissing):
        register(find_phase_file(), "feature")
