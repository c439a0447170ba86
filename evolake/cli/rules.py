"""`evolake rules`: the checkers that rules may name, and what edited rules would change."""

from __future__ import annotations

import os
import subprocess
from dataclasses import asdict
from pathlib import Path

import click

from evolake import project
from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath
from evolake.errors import InputError
from evolake.lines import lines
from evolake.settings import Settings
from evolake.terminal import say, say_json


@click.group(short_help="List checkers, preview and apply a rule change.")
def rules() -> None:
    """List the checkers that rules name, preview what an edit of a rule would change, apply it.

    \b
    Examples:
      evolake rules checkers --line solvers
      evolake rules preview --line solvers
      evolake rules apply --line solvers
    """


@rules.command(short_help="List the gates and checkers of each line.")
@click.option("--line", help="Only those of this line (default: all).")
@AS_JSON
def checkers(line: str | None, as_json: bool) -> int:
    """List the gates and checkers of each line: the parameters of each checker, and the thresholds that the
    rules of today give it."""
    from evolake.gates.checkers import known_checkers, known_gates
    from evolake.gates.rules import load_rules

    named = [_known(line)] if line else _ruled()
    known = {name: (known_gates(name), known_checkers(name).values()) for name in named}
    folder = settings_module.load().seeds / "rules"
    ruled = {name: load_rules(folder, name).rules for name in named if (folder / name).is_dir()}
    if as_json:
        listed = {
            name: {
                "gates": [gate.name for gate in gates],
                "checkers": [
                    asdict(checker)
                    | {
                        "rules": {
                            rule.id: rule.parameters
                            for rule in ruled.get(name, ())
                            if rule.check == checker.name
                        }
                    }
                    for checker in of_line
                ],
            }
            for name, (gates, of_line) in known.items()
        }
        say_json({"verdict": "listed", "reasons": [], "lines": listed})
        return 0
    for name, (gates, of_line) in known.items():
        say(f"{name}: gates {', '.join(gate.name for gate in gates)}")
        for checker in of_line:
            parameters = ", ".join(
                f"{p.name}: {p.type}" + ("" if p.required else f" = {p.default!r}")
                for p in checker.parameters
            )
            say(f"  {checker.name}({parameters})", f"      {checker.meaning}")
            for rule in ruled.get(name, ()):
                thresholds = [
                    f"{key} = {value}"
                    for key, value in rule.parameters.items()
                    if isinstance(value, int | float)
                ]
                if rule.check == checker.name and thresholds:
                    say(f"      rule {rule.id}: {', '.join(thresholds)}")
    return 0


@rules.command(short_help="Show what edited rules would change, and its cost.")
@click.option("--line", help="Only this line (default: all).")
@click.option(
    "--rules",
    "folder",
    type=OrdinaryPath(),
    help="Edited rules, laid out as data_lake/seeds/rules (default: the seeds').",
)
@AS_JSON
def preview(line: str | None, folder: Path | None, as_json: bool) -> int:
    """Show what edited rules would change, before anything is made again: verdicts that flip, champions that
    would fall, what to make again, its cost.

    The rules are asked about the evidence that the lake holds. Nothing is published and no candidate is run.
    """
    settings = settings_module.load()
    chosen = folder or settings.seeds / "rules"
    options = ["--rules", str(chosen.absolute()), *(["--json"] if as_json else [])]
    return _in_a_process("rules_preview", *options, *_lines_ready(settings, chosen, line))


@rules.command(short_help="Make again what edited rules ask for.")
@click.option("--line", help="Only this line (default: all).")
@click.option("--yes", is_flag=True, help="Do not ask.")
def apply(line: str | None, yes: bool) -> int:
    """Apply the rules to every stored candidate: show the preview, ask, and make again what it lists, cycle
    by cycle, until nothing is left of it.

    Killed at any point and started again, it continues. To take an edit back, edit the file back and apply
    it again.
    """
    settings = settings_module.load()
    names = _lines_ready(settings, folder := settings.seeds / "rules", line)
    if code := _in_a_process("rules_preview", "--rules", str(folder.absolute()), *names):
        return code
    if not yes:
        click.confirm(f"Apply the rules of {', '.join(names)}?", abort=True)
    return _in_a_process("rules_apply", *names)


def _lines_ready(settings: Settings, folder: Path, line: str | None) -> list[str]:
    """Return the lines of the lake that have rules in `folder`; DAGSTER_HOME is the lake's from now on."""
    from evolake.lake import Lake
    from evolake.lake.inventory import check_ready
    from evolake.report.status import ruled_lines

    root = settings.require_lake()
    names = ruled_lines(Lake(root), folder, line)
    check_ready(root, names)
    os.environ["DAGSTER_HOME"] = str(project.home(root))
    return names


def _in_a_process(module: str, *words: str) -> int:
    return subprocess.run([*project.command(f"pipelines.{module}"), *words], check=False).returncode


def _ruled() -> list[str]:
    return [name for name, spec in lines().items() if spec.gates]


def _known(line: str) -> str:
    if line not in (ruled := _ruled()):
        raise InputError(f"no line {line!r} has rules", wanted=f"one of {', '.join(ruled)}", got=repr(line))
    return line
