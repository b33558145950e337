"""The server of the Model Context Protocol, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed (extra `mcp`)")

from helpers.processes import PATIENCE
from mcp import Client, StdioServerParameters

from symbouq.integrations.mcp import server
from symbouq.integrations.service import Service
from symbouq.ontology.library import builtin

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


def test_tools_only_read_and_name_the_profiles() -> None:
    for tool in asked(lambda client: client.list_tools()).tools:
        assert tool.annotations.read_only_hint is True
        given = tool.input_schema["properties"]["profile"]
        (names,) = (one["enum"] for one in given["anyOf"] if one["type"] == "string")
        assert [name.replace("-", "_") for name in names] == builtin().profiles
        advised = set(re.findall("`([a-z0-9-]+)`", given["description"]))
        assert {"everyday", "nine-way", "rcc8"} <= advised <= set(names)
    fixed = server("half_plane", timeout=PATIENCE)
    (tool, *_) = asked(lambda client: client.list_tools(), fixed).tools
    assert tool.input_schema["properties"]["profile"]["anyOf"][0]["enum"] == ["half-plane"]


@pytest.mark.parametrize(
    "profile", ["nine-way", "half-plane", "everyday", "spartun", "rcc8", "cdc"]
)
@pytest.mark.parametrize(
    ("scene", "pair", "certain"),
    [
        (SCENE, ("lamp", "door"), {"nine-way": "to the upper left of"}),
        (
            "The ball is inside the box. The box is inside the room.",
            ("ball", "room"),
            {"rcc8": "part of", "cdc": "within the bounding box of", "": "inside"},
        ),
        ("The cup is not in the box.", ("cup", "box"), {}),
    ],
)
def test_relations_are_told_in_a_dozen_words_of_the_profile(
    profile: str, scene: str, pair: tuple[str, str], certain: dict[str, str]
) -> None:
    found = called(
        "relations_between", scene=scene, subject=pair[0], object=pair[1], profile=profile
    )
    if found.is_error:  # in a profile that does not read such scenes
        assert profile in ("rcc8", "cdc", "spartun") and "not in the scene" in found.content[0].text
        return
    text, given = found.content[0].text, found.structured_content
    assert "_" not in text
    assert len(given["possible"]) <= 12 and set(given["certain"]) <= set(given["possible"])
    assert text.startswith(f"certain: {certain.get(profile, certain.get('', ''))}")
    every = Service(timeout=None).relations_between(scene, *pair, profile)
    assert set(given["certain"]) <= set(every["certain"])
    assert set(given["possible"]) <= set(every["possible"])
    assert bool(given["certain"]) == bool(every["certain"])


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
    assert found.content[0].text.startswith("certain: to the upper left of; possible: ")
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
    assert "contradicted, first contradiction" in found.content[0].text
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


@pytest.mark.slow
def test_the_command_serves_http() -> None:
    code = "from symbouq_cli.main import main; main()"
    command = [sys.executable, "-c", code, "mcp", "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(line for line in process.stderr if "http://" in line).split()[-1]
            given = {"scene": SCENE, "claims": ["The lamp is left."]}
            found = asked(lambda client: client.call_tool("audit", given), address)
            assert found.structured_content["scene"]["feasible"] is True
        finally:
            process.terminate()
