"""Projects of tests/audit_evaluators.toml, and small writers of runs in the layouts of other tools, for tests
of audits."""

from __future__ import annotations

import contextlib
import json
import pickle
import sqlite3
import tomllib
from collections.abc import Mapping, Sequence
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
    lines += ["[evaluator]", f'mode = "{entry.get("mode", "calls")}"']
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


def parents_of(count: int) -> list[str | None]:
    """Parents of programs p0, p1, ...: each has the one before it."""
    return [None, *(f"p{place}" for place in range(count - 1))]


def openevolve_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as OpenEvolve leaves it: a checkpoint with a file for each program."""
    checkpoint = folder / "checkpoints" / f"checkpoint_{len(texts)}"
    (checkpoint / "programs").mkdir(parents=True)
    for place, (text, score, parent) in enumerate(zip(texts, scores, parents_of(len(texts)), strict=True)):
        entry = {
            "id": f"p{place}",
            "code": text,
            "language": "python",
            "parent_id": parent,
            "generation": place,
            "iteration_found": place,
            "timestamp": 1.0 + place,
            "metrics": {} if score is None else {"combined_score": score, "size": 3},
        }
        (checkpoint / "programs" / f"p{place}.json").write_text(json.dumps(entry))
    known = [-1e300 if score is None else score for score in scores]
    best = known.index(max(known))
    metadata = {"best_program_id": f"p{best}", "last_iteration": len(texts), "islands": [["p0"]]}
    (checkpoint / "metadata.json").write_text(json.dumps(metadata))
    (checkpoint / "best_program.py").write_text(texts[best])
    (checkpoint / "best_program_info.json").write_text(json.dumps({"id": f"p{best}", "metrics": {}}))
    return folder


def shinka_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as ShinkaEvolve leaves it: an SQLite file with a table of programs."""
    folder.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(folder / "evolution_db.sqlite")) as connection:
        connection.execute(
            "CREATE TABLE programs (id TEXT PRIMARY KEY, code TEXT NOT NULL, language TEXT NOT NULL, "
            "parent_id TEXT, generation INTEGER NOT NULL, timestamp REAL NOT NULL, combined_score REAL, "
            "correct BOOLEAN)"
        )
        for place, (text, score, parent) in enumerate(
            zip(texts, scores, parents_of(len(texts)), strict=True)
        ):
            row = (f"p{place}", text, "python", parent, place, float(place), score or 0.0, score is not None)
            connection.execute("INSERT INTO programs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    return folder


def gepa_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as GEPA leaves it: its state."""
    folder.mkdir(parents=True)
    state = {
        "program_candidates": [{"code": text} for text in texts],
        "parent_program_for_candidate": [[None], *([place] for place in range(len(texts) - 1))],
        "prog_candidate_val_subscores": [{} if score is None else {0: score, 1: score} for score in scores],
        "program_at_pareto_front_valset": {0: {0, 1}},
    }
    (folder / "gepa_state.bin").write_bytes(pickle.dumps(state))
    return folder


def llm4ad_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as LLM4AD leaves it: samples, 200 a file."""
    (folder / "samples").mkdir(parents=True)
    samples = [
        {"sample_order": place + 1, "function": text, "score": score, "algorithm": "a"}
        for place, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]
    (folder / "samples" / "samples_1~200.json").write_text(json.dumps(samples))
    (folder / "samples" / "samples_best.json").write_text(json.dumps(samples[:1]))
    return folder


def codeevolve_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as CodeEvolve leaves it: the best program of each island."""
    for place, text in enumerate(texts):
        (folder / str(place)).mkdir(parents=True)
        (folder / str(place) / "best_sol.py").write_text(text)
    return folder
