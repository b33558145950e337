"""`symbouq serve` and `symbouq mcp`: offer audits to other programs."""

from __future__ import annotations

import socket
import sys

import click

from symbouq.errors import SymboUQError
from symbouq_cli.options import JOBS, ONTOLOGY, PROFILE, TIMEOUT, count_option, option
from symbouq_cli.terminal import tell

_GONE = 30
"""Number of seconds without any response after which a client counts as disconnected."""


@click.command()
@option("--host", default="127.0.0.1", help="Address to listen on.")
@option("--port", default=8000, type=click.IntRange(0, 65535), help="Port.")
@PROFILE
@ONTOLOGY
@JOBS
@TIMEOUT
@count_option(
    "--max-body",
    metavar="BYTES",
    default=1 << 20,
    help="Maximum bytes of a request body; larger ones are refused.",
)
@count_option(
    "--queue", default=64, help="Maximum number of running and waiting requests; more are refused."
)
@option(
    "--token",
    envvar="SYMBOUQ_TOKEN",
    metavar="TEXT",
    help="Bearer token that requests must carry; the variable SYMBOUQ_TOKEN keeps it off the "
    "command line.",
)
@option("--root-path", default="", metavar="PATH", help="Path under which a proxy serves it.")
def serve(
    host: str,
    port: int,
    profile: str | None,
    ontology: str | None,
    jobs: int | None,
    timeout: float,
    max_body: int,
    queue: int,
    token: str | None,
    root_path: str,
) -> None:
    """Serve audits, answers, relations and explanations over HTTP.

    POST a trace to /audit or /explain, a question to /answer, or a pair of things to /relations.
    /docs describes the API; /health, /ready and /metrics report the status. The ontology is
    loaded at start.

    Example: symbouq serve --port 8000 --profile everyday
    """
    import os

    from symbouq.errors import extra
    from symbouq.integrations.service import Service, Workers

    with extra("serve"):
        from uvicorn import Config, Server

        from symbouq.integrations.http import Connection, application
    Service(profile, ontology)  # an ontology that cannot be used ends the command at once
    with (
        _listening(host, port) as listening,
        Workers(jobs or os.cpu_count() or 1, profile, ontology, timeout or None) as workers,
    ):
        tell(f"{_address(host, listening)}/docs")
        app = application(workers, max_body, queue, token, f"/{root_path.strip('/')}".rstrip("/"))
        config = Config(app, http=Connection, log_level="warning", timeout_graceful_shutdown=_GONE)
        Server(config).run(sockets=[listening])


def _address(host: str, listening: socket.socket) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the given address.

    Raises:
        SymboUQError: If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        raise SymboUQError(
            f"{host}, port {port}: {reason}; choose another with --host and --port"
        ) from error
    # Close accepted connections if the client has disconnected or no longer receives data.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _GONE)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * _GONE)
    return made


@click.command()
@option("--http", is_flag=True, help="Serve over HTTP, at the path /mcp.")
@option("--host", default="127.0.0.1", help="Address with --http; this machine alone.")
@option("--port", default=8001, type=click.IntRange(0, 65535), help="Its port.")
@PROFILE
@ONTOLOGY
@TIMEOUT
def mcp(
    http: bool, host: str, port: int, profile: str | None, ontology: str | None, timeout: float
) -> None:
    """Serve the Model Context Protocol on standard input and output, or over HTTP.

    Agents get the tools audit, answer, relations_between and explain.

    Example: symbouq mcp --profile everyday
    """
    from symbouq.errors import extra

    with extra("mcp"):
        from uvicorn import Config, Server

        from symbouq.integrations.mcp import server
    made = server(profile, ontology, timeout or None)
    if not http:
        made.run()
        return
    with _listening(host, port) as listening:
        tell(f"{_address(host, listening)}/mcp")
        app = made.streamable_http_app(stateless_http=True, json_response=True, host=host)
        config = Config(app, log_level="warning", timeout_graceful_shutdown=_GONE)
        Server(config).run(sockets=[listening])
