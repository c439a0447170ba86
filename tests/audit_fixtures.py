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
    """Write a run as OpenEvolve 0.4.1 leaves it: checkpoints with a file for each program that lives, and the
    best program. The first program has a copy on another island, which is the parent of the second; of three
    and more, the second has died by the last checkpoint, and the last was born after it."""
    count = len(texts)
    entries = [
        {
            "id": f"p{place}",
            "code": text,
            "changes_description": "",
            "language": "python",
            "parent_id": "copy" if parent == "p0" else parent,
            "generation": place,
            "iteration_found": place,
            "timestamp": 100.0 + place,
            "metrics": {} if score is None else {"combined_score": score, "size": 3},
            "metadata": {"island": 0},
        }
        for place, (text, score, parent) in enumerate(zip(texts, scores, parents_of(count), strict=True))
    ]
    copy = entries[0] | {"id": "copy", "parent_id": "p0", "iteration_found": 0, "timestamp": 100.5}
    copy["metadata"] = {"island": 1, "migrant": True}
    best = max(entries, key=lambda entry: entry["metrics"].get("combined_score", -1e300))
    dead = 1 if count > 2 else count
    known = [*entries[:1], *([copy] if count > 1 else []), *entries[1:]]
    alive = [entry for entry in known if entry["id"] != f"p{dead}"]
    young = best["id"] == f"p{count - 1}" and count > 2
    for number, some in (
        (count // 2, known[: dead + 2]),
        (count, [e for e in alive if not young or e is not best]),
    ):
        checkpoint = folder / "checkpoints" / f"checkpoint_{number}"
        (checkpoint / "programs").mkdir(parents=True, exist_ok=True)
        for entry in some:
            (checkpoint / "programs" / f"{entry['id']}.json").write_text(json.dumps(entry))
        metadata = {"best_program_id": some[0]["id"], "last_iteration": number, "islands": [["p0"], ["copy"]]}
        (checkpoint / "metadata.json").write_text(json.dumps(metadata))
    (folder / "best").mkdir(parents=True, exist_ok=True)
    (folder / "best" / "best_program.py").write_text(best["code"])
    kept = ("id", "generation", "timestamp", "parent_id", "metrics", "language")
    info = {name: best[name] for name in kept} | {"iteration": best["iteration_found"]}
    (folder / "best" / "best_program_info.json").write_text(json.dumps(info))
    return folder


def shinka_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as ShinkaEvolve 0.0.7 leaves it: SQLite files, one with a table of programs. The first
    program has a copy on another island, which is the parent of the second."""
    folder.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(folder / "prompts.sqlite")) as connection:
        connection.execute("CREATE TABLE system_prompts (id TEXT PRIMARY KEY)")
        connection.commit()
    with contextlib.closing(sqlite3.connect(folder / "programs.sqlite")) as connection:
        connection.execute(
            "CREATE TABLE programs (id TEXT PRIMARY KEY, code TEXT NOT NULL, language TEXT NOT NULL, "
            "parent_id TEXT, generation INTEGER NOT NULL, timestamp REAL NOT NULL, combined_score REAL, "
            "correct BOOLEAN, metadata TEXT, island_idx INTEGER)"
        )
        copied = json.dumps({"_is_island_copy": True, "_original_program_id": "p0", "stdout_log": "x"})
        rows: list[tuple[object, ...]] = [
            ("copy", texts[0], "python", None, 0, 0.0, scores[0] or 0.0, True, copied, 1)
        ]
        for place, (text, score, parent) in enumerate(
            zip(texts, scores, parents_of(len(texts)), strict=True)
        ):
            mother = "copy" if parent == "p0" else parent
            row = (f"p{place}", text, "python", mother, place, float(place), score or 0.0, score is not None)
            rows.insert(place if place == 0 else len(rows), (*row, "{}", 0))
        connection.executemany("INSERT INTO programs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    return folder


def gepa_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as GEPA 0.1.4 leaves it: its state, and the candidates alone."""
    folder.mkdir(parents=True)
    candidates = [{"code": text} for text in texts]
    state = {
        "program_candidates": candidates,
        "parent_program_for_candidate": [[None], *([place] for place in range(len(texts) - 1))],
        "prog_candidate_val_subscores": [{} if score is None else {0: score, 1: score} for score in scores],
        "program_at_pareto_front_valset": {0: {0, 1}},
        "i": len(texts) - 1,
        "total_num_evals": 2 * len(texts),
        "evaluation_cache": None,
        "validation_schema_version": 5,
    }
    (folder / "gepa_state.bin").write_bytes(pickle.dumps(state))
    (folder / "candidates.json").write_text(json.dumps(candidates))
    return folder


def llm4ad_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as LLM4AD 1.11 leaves it: samples, 200 a file, in a folder with the date and the names of
    problem and method."""
    samples = [
        {"sample_order": place + 1, "algorithm": "{a}", "function": text, "score": score}
        for place, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]
    for name, some in (
        ("20260101_000000_Problem_EoH", samples[:1]),
        ("20260102_000000_Problem_EoH", samples),
    ):
        (folder / "logs" / name / "samples").mkdir(parents=True)
        (folder / "logs" / name / "samples" / "samples_1~200.json").write_text(json.dumps(some))
        (folder / "logs" / name / "samples" / "samples_best.json").write_text(json.dumps(some[:1]))
    return folder


def codeevolve_run(folder: Path, texts: Sequence[str], scores: Sequence[float | None]) -> Path:
    """Write a run as CodeEvolve leaves it: the best program of each island."""
    for place, text in enumerate(texts):
        (folder / str(place)).mkdir(parents=True)
        (folder / str(place) / "best_sol.py").write_text(text)
    return folder
