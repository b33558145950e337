"""The server of the Model Context Protocol, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed (extra `mcp`)")

from helpers.processes import PATIENCE
from mcp import Client, StdioServerParameters

from symbouq.integrations.mcp import server

pytestmark = pytest.mark.filterwarnings("ignore")  # the host's own

SCENE = "The lamp is above the desk. The desk is left of the door."
MADE = server(timeout=PATIENCE)


def asked(work: Callable[[Client], Awaitable[Any]], of: Any = MADE) -> Any:
    async def session() -> Any:
        async with Client(of) as client:
            return await work(client)

    return asyncio.run(session())


def called(name: str, **arguments: Any) -> Any:
    return asked(lambda client: client.call_tool(name, arguments))


def test_tools_are_described() -> None:
    tools = {tool.name: tool for tool in asked(lambda client: client.list_tools()).tools}
    assert set(tools) == {"audit", "answer", "relations_between", "explain"}
    assert "entailed, contradicted" in (tools["audit"].description or "")
    assert set(tools["audit"].input_schema["properties"]) == {
        "scene", "claims", "response", "question", "profile",
    }  # fmt: skip
    assert "claims" in tools["audit"].output_schema["properties"]


def test_an_audit_is_told_in_words_and_as_a_record() -> None:
    claims = ["The desk is below the lamp.", "The lamp is right of the door."]
    found = called("audit", scene=SCENE, claims=claims, question="Where is the lamp?")
    verdicts = [claim["verdict"] for claim in found.structured_content["claims"]]
    assert verdicts == ["entailed", "contradicted"]
    assert (
        found.content[0]
        .text.splitlines()[1]
        .startswith("2. contradicted: The lamp is right of the door. (")
    )
    prose = called("audit", scene=SCENE.split(" T"), response=" ".join(claims))
    assert prose.structured_content["claims"][0]["verdict"] == "entailed"


def test_relations_answers_and_explanations() -> None:
    found = called(
        "relations_between", scene=SCENE, subject="lamp", object="door", profile="nine-way"
    )
    assert found.structured_content["certain"] == ["upper_left"]
    assert found.content[0].text.startswith("certain: upper_left; possible: ")
    against = called(
        "relations_between", scene="A is above B. B is above A.", subject="A", object="B"
    )
    assert against.structured_content == {"feasible": False, "possible": [], "certain": []}
    labels = ["yes", "no"]
    found = called(
        "answer", scene=SCENE, question="Is the desk below the lamp?", answer_space=labels
    )
    assert found.structured_content["answer"] == ["yes"]
    assert found.content[0].text == "answer: yes; possible: yes"
    found = called("explain", scene=SCENE, response="The lamp is right of the door.")
    assert "contradicted, the first conflict" in found.content[0].text
    assert found.structured_content == {"text": found.content[0].text}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("audit", {"scene": SCENE}, "give either `claims`, a list, or `response`, a text"),
        ("audit", {"scene": SCENE, "claims": [], "response": ""}, "give either"),
        (
            "relations_between",
            {"scene": SCENE, "subject": "cat", "object": "lamp"},
            "'cat' is not in",
        ),
        ("answer", {"scene": SCENE, "question": "?", "answer_space": []}, "answer_space"),
        ("audit", {"scene": SCENE, "claims": ["x"], "profile": "odd"}, "profile"),
    ],
)
def test_faults_are_told(name: str, arguments: dict[str, Any], message: str) -> None:
    found = called(name, **arguments)
    assert found.is_error
    assert message in found.content[0].text


def test_a_profile_that_is_fixed_is_no_matter_of_a_request() -> None:
    fixed = server("half_plane", timeout=PATIENCE)
    given = {"scene": SCENE, "subject": "lamp", "object": "door"}

    def with_profile(name: str) -> Any:
        arguments = {**given, "profile": name}
        return asked(lambda client: client.call_tool("relations_between", arguments), fixed)

    assert with_profile("half-plane").is_error is False
    assert "started with profile half_plane" in with_profile("nine-way").content[0].text


@pytest.mark.slow
def test_the_command_serves_standard_input_and_output() -> None:
    code = "from symbouq_cli.main import main; main()"
    command = StdioServerParameters(command=sys.executable, args=["-c", code, "mcp"])
    found = asked(
        lambda client: client.call_tool("audit", {"scene": SCENE, "claims": ["The lamp is left."]}),
        command,
    )
    assert found.structured_content["scene"]["feasible"] is True
