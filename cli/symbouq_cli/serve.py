"""`symbouq serve` and `symbouq mcp`: audits for other programs."""

from __future__ import annotations

import socket

import click

from symbouq.errors import SymboUQError
from symbouq_cli.options import JOBS, ONTOLOGY, PROFILE, TIMEOUT, count_option, option
from symbouq_cli.terminal import tell


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
def serve(
    host: str,
    port: int,
    profile: str | None,
    ontology: str | None,
    jobs: int | None,
    timeout: float,
    max_body: int,
    queue: int,
) -> None:
    """Serve audits, answers, relations and explanations over HTTP.

    POST a trace to /audit or /explain, a question to /answer, or a pair of things to /relations.
    /docs describes the API; /health and /metrics report the status. The ontology is loaded at
    start.

    Example: symbouq serve --port 8000 --profile everyday
    """
    import os

    from symbouq.errors import extra
    from symbouq.integrations.service import Service, Workers

    with extra("serve"):
        from uvicorn import Config, Server

        from symbouq.integrations.http import application
    Service(profile, ontology)  # an ontology that cannot be used ends the command at once
    with (
        _listening(host, port) as listening,
        Workers(jobs or os.cpu_count() or 1, profile, ontology, timeout or None) as workers,
    ):
        name = f"[{host}]" if ":" in host else host
        tell(f"http://{name}:{listening.getsockname()[1]}/docs")
        config = Config(application(workers, max_body, queue), log_level="warning")
        Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        SymboUQError: If it cannot.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        raise SymboUQError(
            f"{host}, port {port}: {reason}; --host and --port take another"
        ) from error


@click.command()
@PROFILE
@ONTOLOGY
@TIMEOUT
def mcp(profile: str | None, ontology: str | None, timeout: float) -> None:
    """Serve the Model Context Protocol on standard input and output.

    Agents get the tools audit, answer, relations_between and explain.

    Example: symbouq mcp --profile everyday
    """
    from symbouq.errors import extra

    with extra("mcp"):
        from symbouq.integrations.mcp import server
    server(profile, ontology, timeout or None).run()
