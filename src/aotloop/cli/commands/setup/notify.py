"""`aot notify`: it lists the services that get messages about runs, and sends a test message."""

from __future__ import annotations

import os

import click
import msgspec

from aotloop.app.outlets.notifications import send_test
from aotloop.cli.ui.options import json_option
from aotloop.cli.ui.output import mark, say_json, say_next, tell
from aotloop.config.outlet_settings import NotifySettings
from aotloop.config.sources import of_user
from aotloop.errors import AotError
from aotloop.text.phrases import counted


@click.command(
    "notify",
    epilog="""\b
Examples:
  aot notify
  aot notify --test
""",
)
@json_option
@click.option("--test", is_flag=True, help="Send one message to each service now, and say whether it was taken.")
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, test: bool) -> None:
    """Say which services get messages about runs, as your own settings name them.

    Addresses are never shown, because they may hold a password.
    """
    settings = of_user(os.environ).read_own().get("notify", NotifySettings())
    if not settings.urls:
        raise AotError(
            "no service is set up",
            hint="Write [notify] with its urls into ~/.config/aotloop/config.toml.",
        )
    if not test:
        _show(settings, as_json=as_json)
        return
    sent = send_test(settings)
    if as_json:
        say_json({"services": msgspec.to_builtins(sent)})
    else:
        for delivery in sent:
            tell(
                f"service {delivery.service}: {delivery.problem or 'the message was taken'}",
                head=f"{mark(delivery.problem is None)} ",
            )
    ctx.exit(1 if any(delivery.problem for delivery in sent) else 0)


def _show(settings: NotifySettings, *, as_json: bool) -> None:
    if as_json:
        say_json({"services": len(settings.urls), "events": settings.events, "quiet": settings.quiet})
        return
    tell(f"{counted(len(settings.urls), 'service')}: {', '.join(settings.events)}")
    say_next("aot notify --test")
