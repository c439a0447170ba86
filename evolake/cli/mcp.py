"""`evolake mcp`: a server of the Model Context Protocol on standard input and output, for agents.

A tool is a command of this package with `--json`, run in a process of its own without a shell. All but `run`
leave the lake and the disk as they are; `run` is offered only with `--allow-run` and a budget.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from evolake.errors import InputError
from evolake.settings import Settings
from evolake.settings import load as load_settings

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult

LONGEST = 60_000
"""Characters of an answer; a longer one is cut, with a note."""
TIMEOUT_S = 3600
"""Seconds that a command may take."""
JUDGED_BAD = 1
RUN = "run"


@dataclass(frozen=True)
class AgentTool:
    """A command as a tool.

    Attributes:
        command: its words. about: what it is for.
        takes: argument -> (JSON type, what it is, the option that it follows; "" for a positional one).
        needs: arguments that must be given. fixed: further words.
    """

    command: tuple[str, ...]
    about: str
    takes: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ("--json",)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        kinds = {name: {"type": kind, "description": said} for name, (kind, said, _) in self.takes.items()}
        return {
            "type": "object",
            "properties": kinds,
            "required": list(self.needs),
            "additionalProperties": False,
        }

    def words(self, given: Mapping[str, Any]) -> list[str]:
        """Return the words of the command.

        Raises:
            InputError: an argument is missing, unknown or of another type.
        """
        if wrong := [name for name in given if name not in self.takes]:
            raise InputError(f"there is no argument {wrong[0]!r}", wanted=f"some of: {', '.join(self.takes)}")
        if missing := [name for name in self.needs if name not in given]:
            raise InputError(f"the argument {missing[0]!r} is missing")
        options, places = list(self.fixed), list[str]()
        for name, (kind, _, option) in self.takes.items():
            if name not in given:
                continue
            value = given[name]
            if "\0" in str(value) or len(str(value)) > LONGEST:
                raise InputError(
                    f"the argument {name!r} cannot be a word",
                    wanted=f"at most {LONGEST} characters, none of them NUL",
                )
            if type(value) is not {"string": str, "integer": int, "object": dict}[kind]:
                raise InputError(f"the argument {name!r} is no {kind}")
            texts = [f"{key}={text}" for key, text in value.items()] if kind == "object" else [str(value)]
            for text in texts:
                if option:
                    options += [f"{option}={text}"]
                else:
                    places.append(text)
        return [*self.command, *options, *(["--", *places] if places else [])]


PROJECT = {"path": ("string", "folder or name of a project, or file of an evaluator", "")}
TOOLS = {
    "status": AgentTool(("status",), "State of each line: sealed cycles, champion, counts, what to do next."),
    "sql": AgentTool(
        ("sql",),
        "Run one read-only SQL statement over the tables of all lines (DuckDB). "
        "`SELECT * FROM artifacts LIMIT 5` is a start; `list_tables` and `describe_table` name the rest.",
        {
            "statement": ("string", "one statement", ""),
            "params": ("object", "name -> value of each $name in the statement", "--param"),
        },
        ("statement",),
    ),
    "list_tables": AgentTool(("sql", "--list"), "Name tables, macros and ready-made questions.", fixed=()),
    "describe_table": AgentTool(
        ("sql",), "Columns of one table.", {"table": ("string", "its name", "--schema")}, ("table",)
    ),
    "show": AgentTool(
        ("show",),
        "One artifact of any line, with its texts and its verdicts.",
        {"id": ("string", "its id, or the first eight or more digits of it", "")},
        ("id",),
    ),
    "champions": AgentTool(
        ("champion",),
        "The champion of a line: what it is, since when, with which gain.",
        {
            "line": ("string", "such as programs, designs, solvers or prompts", ""),
            "project": ("string", "of programs: which project", "--project"),
        },
        ("line",),
    ),
    "audit": AgentTool(
        ("audit",),
        "Audit a project: can its score be forged, is it a measurement, is a gain real? In the jail.",
        PROJECT | {"seconds": ("integer", "processor seconds, about (120)", "--seconds")},
        ("path",),
    ),
    "check": AgentTool(
        ("programs", "check"),
        "Evaluate a project's initial program in the jail: score, noise, time.",
        {"path": ("string", "folder or name of a project", "")},
        ("path",),
    ),
    "check_family": AgentTool(
        ("families", "check"),
        "Take a family of reasoning questions through all gates, without a model.",
        {"path": ("string", "folder of the family", "")},
        ("path",),
        ("--backend=operators", "--json"),
    ),
    "verify": AgentTool(
        ("bundle", "verify"),
        "Run again what a bundle claims: whether its champion is as good as it says.",
        {"file": ("string", "the bundle", "")},
        ("file",),
    ),
    RUN: AgentTool(
        (RUN,),
        "Run cycles of lines. It may take long and, with the backend `model`, costs calls within the budget.",
        {
            "lines": ("string", "lines, separated by commas", "--lines"),
            "cycles": ("integer", "cycles to add to each of them (1)", "--cycles"),
            "profile": ("string", "demo, laptop, gpu or cluster", "--profile"),
        },
        ("lines",),
        (),
    ),
}


@dataclass
class Commands:
    """Runs tools. cycles: that `run` may still add, over all lines."""

    cycles: int = 0

    def offered(self) -> dict[str, AgentTool]:
        """Return the tools, without `run` if it is not allowed."""
        return {name: tool for name, tool in TOOLS.items() if name != RUN or self.cycles}

    async def call(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return {"exit_code", "result": what was printed, as JSON if it is some, "errors"} of one call."""
        tool = TOOLS.get(name)
        if tool is None or (name == RUN and not self.cycles):
            return refused(
                InputError(f"there is no tool {name!r}", do="`evolake mcp --allow-run` offers `run`")
            )
        try:
            words = tool.words(given)
            if name == RUN:
                self._book(given)
        except InputError as error:
            return refused(error)
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "from evolake.cli import main; main()", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"NO_COLOR": "1"},
        )
        try:
            out, err = await asyncio.wait_for(child.communicate(), TIMEOUT_S)
        except TimeoutError:
            return refused(InputError(f"the command took more than {TIMEOUT_S} s and was ended"))
        finally:
            if child.returncode is None:
                child.terminate()
                await child.wait()
        return {"exit_code": child.returncode, "result": answer_of(out), "errors": shown(err)}

    def _book(self, given: Mapping[str, Any]) -> None:
        """Take the cycles of one `run` off those that are left.

        Raises:
            InputError: they are too many.
        """
        asked = given.get("cycles", 1) * len(str(given["lines"]).split(","))
        if not 0 < asked <= self.cycles or "all" in str(given["lines"]):
            raise InputError(
                "these are more cycles than are left",
                wanted=f"at most {self.cycles}, of named lines",
                got=str(asked),
            )
        self.cycles -= asked


def refused(error: InputError) -> dict[str, Any]:
    """Return what a call that was not run gives."""
    return {"exit_code": InputError.exit_code, "result": None, "errors": str(error)}


def shown(data: bytes) -> str:
    """Return printed bytes as text, its middle left out if it is long."""
    text = data.decode("utf-8", "replace")
    half = LONGEST // 2
    cut = f"{text[:half]}\n[... {len(text) - LONGEST} characters cut here ...]\n{text[-half:]}"
    return text if len(text) <= LONGEST else cut


def answer_of(out: bytes) -> Any:
    """Return printed JSON as values; a text if it is none, or too long."""
    try:
        return json.loads(out) if len(out) <= LONGEST else shown(out)
    except ValueError:
        return shown(out)


def server_of(commands: Commands) -> Server[Any]:
    """Return the server."""
    from mcp import types
    from mcp.server.lowlevel import Server

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        hints = {name: types.ToolAnnotations(read_only_hint=name != RUN) for name in TOOLS}
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name, description=tool.about, input_schema=tool.schema(), annotations=hints[name]
                )
                for name, tool in commands.offered().items()
            ]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> CallToolResult:
        done = await commands.call(params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(done, ensure_ascii=False))],
            structured_content=done,
            is_error=done["exit_code"] not in (0, JUDGED_BAD),
        )

    return Server("evolake", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve(commands: Commands) -> None:
    """Serve until standard input ends."""
    from mcp.server.stdio import stdio_server

    server = server_of(commands)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def require_budget(settings: Settings) -> None:
    """Raise InputError if no limit of the budget holds."""
    if all(value is None for value in settings.budget.model_dump().values()):
        raise InputError(
            "`run` is offered only within a budget",
            wanted="EVOLAKE_BUDGET__TOKENS_PER_RUN, or another limit of the budget",
            got="none",
            do="set one, or leave out --allow-run",
        )


@click.command(short_help="Serve agents by the Model Context Protocol.")
@click.option(
    "--allow-run",
    type=click.IntRange(min=1),
    default=None,
    metavar="CYCLES",
    help="Also offer `run`, for so many cycles in all; needs a budget (default: read only).",
)
def mcp(allow_run: int | None) -> int:
    """Serve an agent on standard input and output by the Model Context Protocol: read-only tools for SQL,
    status, artifacts, champions, audits and checks. Needs the extra `mcp`.

    \b
    Example, as an agent's settings have it:
      {"mcpServers": {"evolake": {"command": "evolake", "args": ["mcp"]}}}
    """
    if importlib.util.find_spec("mcp") is None:
        raise InputError(
            "`evolake mcp` needs the package mcp", wanted="it is installed", do="pip install 'evolake[mcp]'"
        )
    if allow_run:
        require_budget(load_settings())
    asyncio.run(serve(Commands(allow_run or 0)))
    return 0
