"""The `evolake` command: one file per group, every error a sentence and an exit code.

Exit codes: 0 success, 1 the thing judged is judged bad, 2 wrong usage or input, 3 the machinery failed; 130
and 143 stopped by Ctrl-C and SIGTERM, 141 the output was not read to its end.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping

import click

from evolake.cli.ending import end, stop_on_sigterm
from evolake.commands import LazyGroup
from evolake.lazy import Lazy
from evolake.lines import lines
from evolake.terminal import note_call

SHARED = {
    "agents": Lazy("evolake.cli.agents:agents"),
    "bundle": Lazy("evolake.cli.champion:bundle"),
    "rules": Lazy("evolake.cli.rules:rules"),
    "champion": Lazy("evolake.cli.champion:champion"),
    "consensus": Lazy("evolake.cli.consensus:consensus"),
    "cycles": Lazy("evolake.cli.run:cycles"),
    "doctor": Lazy("evolake.cli.doctor:doctor"),
    "guide": Lazy("evolake.cli.agents:guide"),
    "init": Lazy("evolake.cli.init:init"),
    "lake": Lazy("evolake.cli.lake:lake"),
    "mcp": Lazy("evolake.cli.mcp:mcp"),
    "report": Lazy("evolake.cli.report:report"),
    "run": Lazy("evolake.cli.run:run"),
    "show": Lazy("evolake.cli.champion:show"),
    "seeds": Lazy("evolake.cli.seeds:seeds"),
    "sql": Lazy("evolake.cli.sql:sql"),
    "status": Lazy("evolake.cli.run:status"),
    "watch": Lazy("evolake.cli.watch:watch"),
}
"""Commands that are of no line."""


class Root(LazyGroup):
    """The shared commands and those of every installed line. A line cannot take the name of a shared one."""

    def later(self) -> Mapping[str, Lazy[click.Command]]:
        """Return name -> command, not yet imported: the shared commands and those of every line."""
        return {
            name: command for spec in lines().values() for name, command in spec.commands.items()
        } | SHARED


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="evolake", prog_name="evolake")
def cli() -> None:
    """Run evolutionary search with verifiable results, and query what it found.

    \b
    Examples:
      evolake run designs --profile demo
      evolake status
    """


def main() -> None:
    """Entry point: runs the command that was typed; see `ending` for what becomes of errors and signals."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal or a log that cannot show a letter is no reason to fail
    note_call(sys.argv[0])
    stop_on_sigterm()
    sys.exit(end(cli))
