"""Server for the Model Context Protocol: agents check spatial claims before they state them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import Field

from symbouq.auditing.explain import claims_told
from symbouq.errors import SymboUQError
from symbouq.integrations.service import Relations, Service, Words
from symbouq.records import AnswerRecord, Audit
from symbouq.version import __version__

INSTRUCTIONS = """\
Checks spatial reasoning in text by logic: whether claims follow from a scene, contradict it, or are
open. Give the scene as plain sentences ("The lamp is above the desk."). A verdict `unknown` means
that nothing could be decided, and is no objection."""

Scene = Annotated[str | list[str], Field(description="The trusted description, in sentences.")]
Question = Annotated[str, Field(description="What was asked, if anything.")]
ADVICE = """\
How words are meant. `everyday`: open text about rooms, maps and pages; the best guess where nothing
is known. `nine-way`: points on a grid, of nine directions that exclude each other. `half-plane`:
above and left may hold together. `rcc8`: regions that touch, overlap, contain. `cdc`: regions and
cardinal directions. `event`: who moves where, who sees whom. `story`: things that change places.
The others are those of data sets."""
Profile = Annotated[str | None, Field(description=ADVICE)]
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
Claims = Annotated[
    list[str] | None, Field(description="The claims, one by one, the conclusion last.")
]
Response = Annotated[str | None, Field(description="In place of claims, the reasoning as prose.")]


class _Server(MCPServer):
    """A server whose tools list the available profiles.

    Args:
        profiles: Names of the profiles.
    """

    def __init__(self, profiles: Sequence[str]) -> None:
        super().__init__("symbouq", instructions=INSTRUCTIONS, version=__version__)
        self._profiles = list(profiles)

    async def list_tools(self) -> list[Tool]:
        """List the tools. Their parameter `profile` accepts only the ontology's profiles."""
        tools: list[Tool] = await super().list_tools()
        for tool in tools:
            if given := tool.input_schema["properties"].get("profile"):
                given["anyOf"] = [{"type": "string", "enum": self._profiles}, {"type": "null"}]
        return tools


def server(
    profile: str | None = None, ontology: str | None = None, timeout: float | None = None
) -> MCPServer:
    """Create a server with the tools `audit`, `answer`, `relations_between` and `explain`.

    Each tool returns its result in words and as structured content.

    Args:
        profile: As for `symbouq.integrations.service.Service`.
        ontology: As for `Service`.
        timeout: As for `Service`.

    Raises:
        OntologyError: If the ontology or the profile cannot be used.
    """
    service = Service(profile, ontology, timeout)
    made = _Server(service.profiles)
    tool = made.tool(annotations=_READ_ONLY)

    def asked(method: Any, *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except SymboUQError as error:
            raise ToolError(error.message) from error

    def allowed(given: str | None) -> str | None:
        """Return the profile in a request. It is an error if the server was started with another
        profile.
        """
        if given and profile and given.replace("_", "-") != profile.replace("_", "-"):
            raise ToolError(f"this server was started with profile {profile}: leave `profile` out")
        return given

    @tool
    def audit(
        scene: Scene,
        claims: Claims = None,
        response: Response = None,
        question: Question = "",
        profile: Profile = None,
    ) -> Annotated[CallToolResult, Audit]:
        """Check claims about a scene. Each claim is entailed, contradicted, unknown or not
        evaluable, and comes with the sentences that justify the verdict.
        """
        found = asked(service.audit, _trace(scene, claims, response, question, allowed(profile)))
        return _result("\n".join(claims_told(found)), found)

    @tool
    def answer(
        scene: Scene,
        question: Annotated[str, Field(description="The question.")],
        answer_space: Annotated[
            list[str], Field(description="The labels that an answer may have.")
        ],
        profile: Profile = None,
    ) -> Annotated[CallToolResult, AnswerRecord]:
        """Answer a question from a scene by logic alone: which labels are certain, possible and
        impossible.
        """
        record = {"scene": scene, "question": question, "answer_space": answer_space}
        chosen = {"profile": profile} if allowed(profile) else {}
        found = asked(service.answer, record | chosen)
        said = ", ".join(found["answer"]) or f"none ({found['status']})"
        possible = ", ".join(found["possible"]) or "none"
        return _result(f"answer: {said}; possible: {possible}", found)

    @tool
    def relations_between(
        scene: Scene,
        subject: Annotated[str, Field(description="A thing, as the scene names it.")],
        object: Annotated[str, Field(description="Another thing.")],
        profile: Profile = None,
    ) -> Annotated[CallToolResult, Relations]:
        """List the relations that a scene leaves possible between two things."""
        found = asked(service.relations_told, scene, subject, object, allowed(profile))
        return _result(found.pop("text"), found)

    @tool
    def explain(
        scene: Scene,
        claims: Claims = None,
        response: Response = None,
        question: Question = "",
        profile: Profile = None,
    ) -> Annotated[CallToolResult, Words]:
        """Explain the check of claims about a scene in words, with a sketch of its layout."""
        text = asked(service.explain, _trace(scene, claims, response, question, allowed(profile)))
        return _result(text, {"text": text})

    return made


def _trace(
    scene: str | list[str],
    claims: list[str] | None,
    response: str | None,
    question: str,
    profile: str | None,
) -> dict[str, Any]:
    """Make the record of a trace.

    Raises:
        ToolError: If there are neither claims nor a response, or both.
    """
    if (claims is None) == (response is None):
        raise ToolError("give either `claims`, a list, or `response`, a text")
    record: dict[str, Any] = {"scene": scene, "question": question}
    if profile:
        record["profile"] = profile
    if claims is not None:
        *reasoning, conclusion = claims or [""]
        return record | {"reasoning": reasoning, "conclusion": conclusion}
    return record | {"response": response}


def _result(text: str, found: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=found)
