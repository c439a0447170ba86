"""`evolake rules`: the checkers that rules may name, and a new rule file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.lines import lines


@click.group()
def rules() -> None:
    """Rules: which checkers there are, and how to write one."""


@rules.command()
@click.option("--line", help="Only those of this line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def checkers(line: str | None, as_json: bool) -> int:
    """List the gates and checkers of each line, with the parameters that a rule gives them."""
    from evolake.gates.known import known_checkers, known_gates

    found = {name: (known_gates(name), known_checkers(name)) for name in ([_known(line)] if line else _ruled())}
    if as_json:
        told = {name: {"gates": [gate.name for gate in gates], "checkers": [asdict(one) for one in of_line.values()]}
                for name, (gates, of_line) in found.items()}
        click.echo(json.dumps({"verdict": "listed", "reasons": [], "lines": told}))
        return 0
    for name, (gates, of_line) in found.items():
        click.echo(f"{name}: gates {', '.join(gate.name for gate in gates)}")
        for one in of_line.values():
            given = ", ".join(f"{p.name}: {p.type}" + ("" if p.required else f" = {p.default!r}") for p in one.parameters)
            click.echo(f"  {one.name}({given})\n      {one.meaning}")
    return 0


@rules.command()
@click.option("--line", required=True, help="Line that the rule is of.")
@click.argument("file", type=click.Path(path_type=Path))
def new(line: str, file: Path) -> int:
    """Write a rule of a line to FILE, complete: in data_lake/seeds/rules/LINE/ it judges. Nothing is overwritten."""
    from evolake.gates.example import example_rule
    from evolake.gates.rules import load_rules
    from evolake.new_files import write_new

    write_new({file: example_rule(load_rules(settings_module.load().seeds / "rules", _known(line)), file.stem)})
    click.echo(f"{file}; `evolake rules checkers --line {line}` lists what it may name; in data_lake/seeds/rules/{line}/ it judges")
    return 0


def _ruled() -> list[str]:
    return [name for name, spec in lines().items() if spec.gates]


def _known(line: str) -> str:
    if line not in (ruled := _ruled()):
        raise InputError(f"no line {line!r} has rules", wanted=f"one of {', '.join(ruled)}", got=repr(line))
    return line
