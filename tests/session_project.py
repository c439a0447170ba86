"""A project whose sessions are held by a scripted model: a lake, a folder of files, a command that builds,
and one role."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from loopback_model import KEY, Asked, LoopbackModel, Script
from pydantic import BaseModel, ConfigDict

from evolake.agents import Agents, Role, open_agents
from evolake.agents.session_tools import Arguments, Command, SessionContext, Workspace, offered
from evolake.agents.wire import Turn
from evolake.jail import Pool
from evolake.settings import AgentsSettings, BudgetSettings, PriceSettings, SessionSettings, Settings

FILES = {
    "src/main.cc": "int main() {\n    return 1;\n}\n",
    "src/util.h": "// a helper\n" * 900,
    "README.md": "Do not touch.\n",
}
READ, LIST = ("read_file", {"path": "src/main.cc"}), ("list_files", {})
EDIT = ("edit_file", {"path": "src/main.cc", "search": "return 1", "replace": "return 0"})
FINISH = ("finish", {"title": "zero"})
BUILD = ("build", {})


class Ask(BaseModel):
    goal: str


class Finished(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str


class Nothing(Arguments):
    pass


def mender(folder: Path) -> Role[Ask, Turn]:
    """A role that is a session."""
    path = folder / "mender.md"
    path.write_text("You mend programs.\n<!-- user -->\n{{goal|text}}\n")

    def no_operators(request: Ask, random: np.random.Generator) -> Turn:
        raise AssertionError("no operators hold sessions")

    return Role(
        "mender",
        Ask,
        Turn,
        no_operators,
        prompt=path,
        tools=offered([("build", "Build it.", Nothing)], Finished),
    )


@dataclass
class Project:
    """A lake and the folder that sessions work on. built: the program's text each time that a command built
    it."""

    folder: Path
    pool: Pool
    built: list[str] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        for name, text in FILES.items():
            (self.folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "tree" / name).write_text(text)
        self.role = mender(self.folder)

    def build(self, folder: Path, arguments: Any) -> str:
        """Says another thing each time, as what takes time does."""
        self.built.append((folder / "src/main.cc").read_text())
        return f"built in {len(self.built)} s" if "return 0" in self.built[-1] else "error: it returns 1"

    def context(self) -> SessionContext:
        workspace = Workspace.of_folder(self.folder / "tree", FILES, lambda path: path.startswith("src/"))
        return SessionContext(
            workspace,
            self.folder / "tree",
            Finished,
            self.pool.call,
            {"build": Command("build", "Build it.", Nothing, self.build)},
        )

    def agents(
        self,
        base_url: str | None,
        *,
        run_id: str = "run-1",
        session: SessionSettings | None = None,
        **changes: Any,
    ) -> Agents:
        values: dict[str, Any] = {
            "backend": "model",
            "model_base_url": base_url,
            "model_api_key": KEY,
            "models": {"default": "played"},
            "prices": {"played": PriceSettings(input=1, output=2)},
            "budget": BudgetSettings(usd_per_cycle=1),
            "model_timeout_s": 5.0,
            "agents": AgentsSettings(session=session or SessionSettings()),
        }
        return open_agents(
            Settings(**(values | changes)),
            self.folder / "lake",
            "0001",
            run_id,
            line="designs",
            wait=lambda seconds: 0.0,
        )

    def hold(self, script: Script, **changes: Any) -> Held:
        """One session to its end; all at one address."""
        with LoopbackModel(script, self.port) as server, self.agents(server.base_url, **changes) as agents:
            self.port = server.port
            context = self.context()
            result = agents.session(self.role, Ask(goal="Return 0."), context, seed=0).value
            return Held(result, context.workspace, agents.turns(), agents.rows(), server.requests)


@dataclass(frozen=True)
class Held:
    """A session that has ended."""

    result: Any
    workspace: Workspace
    turns: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    asked: list[Asked]

    @property
    def results(self) -> list[tuple[str, str]]:
        """What each call gave back: (fault, text)."""
        return [
            (done["fault"], done["result"])
            for turn in self.turns
            for done in json.loads(turn["text"])["calls"]
        ]
