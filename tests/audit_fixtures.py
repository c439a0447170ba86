"""Projects of tests/audit_evaluators.toml, for tests of audits."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from evolake.programs.model.project import Project, project_of

LOAD = """import importlib.util


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program

"""
EVALUATORS: Mapping[str, Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "audit_evaluators.toml").read_text()
)


def files_of(entry: Mapping[str, str]) -> dict[str, str]:
    """The files of a project of an entry."""
    lines = ["[program]"] if {"entry", "run"} & entry.keys() else []
    lines += [f'{name} = "{entry[name]}"' for name in ("entry", "run") if name in entry]
    if "mode" in entry:
        lines += ["[evaluator]", f'mode = "{entry["mode"]}"']
    if "metric" in entry:
        lines += ["[metrics]", f'combined_score = "{entry["metric"]}"']
    return {
        "initial_program.py": entry["program"],
        "evaluator.py": ("" if "cases(" in entry["evaluator"] else LOAD) + entry["evaluator"],
        "project.toml": "\n".join(lines) + "\n",
    }


def planted(group: str, name: str) -> Project:
    """The project of an entry."""
    files = files_of(EVALUATORS[group][name])
    return project_of(name.replace("_", "-"), {path: text.encode() for path, text in files.items()})
