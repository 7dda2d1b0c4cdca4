"""The connection to the server: Temporal's own profiles say where it is; a key is required unless it is this machine.

Errors of the library become ours here: what failed, at which server, and what to do.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from datetime import timedelta
from pathlib import Path

import msgspec
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import KeepAliveConfig, RPCError

from aotloop.config.remote_settings import RemoteSettings
from aotloop.errors import Unavailable
from aotloop.remote.payload_codec import converter, read_key
from aotloop.text.hosts import is_loopback

PATIENCE = 10.0
"""Seconds for the first answer of the server."""

_DEFAULT = "localhost:7233"
_QUOTED = re.compile(r'message: "([^"]+)"')


class Server(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    namespace: str
    is_encrypted: bool
    """Whether the connection itself is."""
    has_key: bool


def server_of(settings: RemoteSettings) -> Server:
    """Without connecting. Raises Unavailable."""
    return _described(_profile(settings), settings)


async def connect(settings: RemoteSettings, *, lazily: bool = False, identity: str | None = None) -> Client:
    """`lazily`: also while the server is away. Raises Unavailable."""
    wanted = _profile(settings)
    server = _described(wanted, settings)
    key = read_key(Path(os.path.expanduser(settings.key_file))) if settings.key_file is not None else None  # noqa: PTH111, ASYNC240
    if key is None and not is_here(server.address):
        raise Unavailable(
            f"the server {server.address} is another machine, and there is no key to seal what is sent",
            hint="Set `key_file` in [remote] of ~/.config/aotloop/config.toml, here and on every worker.",
        )
    options = {name: value for name, value in wanted.items() if value is not None}
    options |= {"target_host": server.address, "namespace": server.namespace}
    try:
        async with asyncio.timeout(PATIENCE):
            return await Client.connect(
                **options,  # type: ignore[arg-type]
                data_converter=converter(key),
                lazy=lazily,
                identity=identity,
                runtime=_runtime(),
                keep_alive_config=KeepAliveConfig(interval_millis=10_000, timeout_millis=10_000),
            )
    except (RuntimeError, RPCError, TimeoutError, ValueError) as error:
        raise Unavailable(
            f"the Temporal server {server.address} cannot be reached: {_short(error)}",
            hint="Start it (`aot dev-cluster` has one for trying), or see the profile: `temporal config list`.",
        ) from error


async def require_namespace(client: Client) -> None:
    """Raises Unavailable if the server does not know the namespace, or does not let us in."""
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace), timeout=timedelta(seconds=PATIENCE)
        )
    except RPCError as error:
        raise Unavailable(
            f"the namespace {client.namespace} of the Temporal server cannot be used: {_short(error)}",
            hint="See the profile: `temporal config list`.",
        ) from error


def is_here(address: str) -> bool:
    """Whether this machine has the address, which ends with a port."""
    return is_loopback(address.removeprefix("http://").removeprefix("https://").rpartition(":")[0])


def _profile(settings: RemoteSettings) -> dict[str, object]:
    try:
        return dict(ClientConfig.load_client_connect_config(settings.profile))
    except (RuntimeError, ValueError, OSError) as error:
        name = settings.profile or "default"
        raise Unavailable(
            f"Temporal's profile {name} cannot be read: {_short(error)}",
            hint="`temporal config list` shows the profiles; `profile` in [remote] names one.",
        ) from error


def _described(wanted: dict[str, object], settings: RemoteSettings) -> Server:
    return Server(
        address=str(wanted.get("target_host") or _DEFAULT),
        namespace=str(wanted.get("namespace") or "default"),
        is_encrypted=bool(wanted.get("tls")),
        has_key=settings.key_file is not None,
    )


def _runtime() -> Runtime:
    """The library's own log would go straight to the terminal."""
    logger = logging.getLogger("aotloop.temporal")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    quiet = LoggingConfig(
        filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger=logger),
    )
    return Runtime(telemetry=TelemetryConfig(logging=quiet))


def _short(error: BaseException) -> str:
    """The cause in the words of the system, if the library quotes them."""
    text = str(error) or type(error).__name__
    if quoted := _QUOTED.search(text):
        return quoted[1]
    return text.splitlines()[0][:300]
