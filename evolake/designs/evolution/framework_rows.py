"""A search by the paper's framework as rows of our tables: what can be used, and what cannot with the reason.

The database itself, the list of objectives and the state of the meta agent are files that have to be right; a
design, a result, an objective or a log that is not is a row that says so.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.designs.evolution.framework_files import (
    DO,
    WANTED,
    Files,
    Malformed,
    number,
    read_code,
    read_object,
    read_record,
    text,
    whole,
)
from evolake.errors import InputError
from evolake.objectives.source import objective_id

WEIGHT_SLACK = 0.01
"""How far from 1 the weights of a design's parents may sum there."""
SUCCESS = ("poor", "moderate", "good", "excellent")
BASELINE_OBJECTIVE = Path("domain_knowledge/objective_baseline.py")
"""Where the framework keeps its objective 0 until a search writes it next to the others."""
MAX_TEXT = 20_000

Row = dict[str, Any]


@dataclass(frozen=True)
class Framework:
    """Rows without what the import adds (bundle, source, cycle). sources: row of the database -> text of its
    solver."""

    designs: list[Row]
    sources: dict[int, str]
    results: list[Row]
    objectives: list[Row]
    texts: list[Row]

    def bundle_id(self) -> str:
        """Return sha256 over everything that was read, wherever it was."""
        held = [self.designs, sorted(self.sources.items()), self.results, self.objectives, self.texts]
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def read_framework(files: Files, *, files_only: bool = False) -> Framework:
    """Return everything that the files say. Raises InputError where one that must be right is not.

    files_only: the database is not read; every solver_N.py is a design without parents and results.
    """
    entries = _entries_of_files(files) if files_only else read_object(files.database).get("designs")
    if not isinstance(entries, list):
        raise InputError(
            f"{files.database} is no database of the paper's framework",
            wanted=WANTED,
            got="no list `designs`",
            do=DO,
        )
    if not entries:
        raise InputError(
            f"nothing to import from {files.database}", wanted="at least one design", got="none", do=DO
        )
    texts = [*_reviews(files), *_logs(files, "planner", _planner), *_analyses(files)]
    learnt = {row["number"]: row for row in texts if row["kind"] == "analysis" and row["state"] == "read"}
    designs, sources = _designs(files, entries, learnt)
    results = [
        _result(row, place, design["original_id"], experiment)
        for row, (entry, design) in enumerate(zip(entries, designs, strict=True))
        for place, experiment in enumerate(_experiments(entry))
    ]
    kept = ("kind", "number", "title", "text", "state", "reason")
    return Framework(
        designs, sources, results, _objectives(files), [{name: row[name] for name in kept} for row in texts]
    )


def _entries_of_files(files: Files) -> list[Row]:
    """Return what a database would say of the files of solvers alone."""
    numbers = sorted(
        int(match.group(1))
        for path in files.folder("solvers").glob("solver_*.py")
        if (match := re.fullmatch(r"solver_([0-9]{1,9})", path.stem))
    )
    return [
        {"design_id": number, "short_name": f"solver {number}", "planner_round_id": 0, "experiments": []}
        for number in dict.fromkeys(numbers)
    ]


def _designs(files: Files, entries: list[Any], learnt: dict[int, Row]) -> tuple[list[Row], dict[int, str]]:
    rows: list[Row] = []
    sources: dict[int, str] = {}
    seen: set[int] = set()
    for place, entry in enumerate(entries):
        row: Row = {"row": place, "original_id": None, "state": "read", "reason": None}
        try:
            if not isinstance(entry, dict):
                raise Malformed("the entry is no object")
            row["original_id"] = whole(entry, "design_id")
            if row["original_id"] in seen:
                raise Malformed(f"design_id {row['original_id']} is there twice")
            seen.add(row["original_id"])
            row |= {
                "title": text(entry, "short_name"),
                "round": whole(entry, "planner_round_id"),
                "parents": json.dumps(_parents(entry)),
                "model": text(entry, "model_name", optional=True) or None,
                "made_at": text(entry, "timestamp", optional=True) or None,
            }
            row["tuned"] = any(word in row["title"].lower() for word in ("tuned", "hebo"))
            if not isinstance(entry.get("experiments", []), list):
                raise Malformed("experiments: wanted a list")
            sources[place] = read_code(files.folder("solvers") / f"solver_{row['original_id']}.py")
            summary = learnt.get(row["original_id"], {})
            row |= {"key_insight": summary.get("key_insight"), "success_level": summary.get("success_level")}
        except Malformed as error:
            row |= {"state": "malformed", "reason": str(error)}
        rows.append(row)
    return rows, sources


def _parents(entry: Row) -> list[list[float]]:
    given = entry.get("reference_weights") or []
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise Malformed("reference_weights: wanted a list of objects with design_id and weight")
    result = [[whole(item, "design_id"), number(item, "weight", 0, 1)] for item in given]
    total = math.fsum(weight for _, weight in result)
    if result and abs(total - 1) > WEIGHT_SLACK:
        raise Malformed(f"reference_weights: wanted a sum of 1, got {total:g}")
    return [[parent, weight / total] for parent, weight in result]


def _experiments(entry: Any) -> list[Any]:
    result = entry.get("experiments") if isinstance(entry, dict) else None
    return result if isinstance(result, list) else []


def _result(row: int, place: int, design: int | None, experiment: Any) -> Row:
    result: Row = {"row": row, "number": place, "original_id": design, "state": "read", "reason": None}
    try:
        if not isinstance(experiment, dict):
            raise Malformed("the experiment is no object")
        return result | {
            "N": whole(experiment, "N", at_least=1),
            "batch": whole(experiment, "batch", at_least=1),
            "max_steps": whole(experiment, "max_steps"),
            "median_step": whole(experiment, "median_step"),
            "unsolved_fraction": number(experiment, "unsolved_fraction", 0, 1),
            "ratio": number(experiment, "ratio", 0, 1e6) if experiment.get("ratio") is not None else None,
            "fidelity": text(experiment, "fidelity", optional=True) or None,
        }
    except Malformed as error:
        return result | {"state": "malformed", "reason": str(error)}


def _objectives(files: Files) -> list[Row]:
    folder = files.folder("objectives")
    listed = read_object(folder / "metadata.json") if (folder / "metadata.json").exists() else {}
    states = _states(files)
    factors = states[-1].get("weight_adjustments") if states else None
    there = {
        int(match.group(1))
        for path in folder.glob("objective_*.py")
        if (match := re.fullmatch(r"objective_([0-9]{1,9})", path.stem))
    }
    numbered = {int(name) for name in listed if re.fullmatch(r"[0-9]{1,9}", name)}
    factors = factors if isinstance(factors, dict) else {}
    return [_objective(files, key, listed.get(str(key), {}), factors) for key in sorted(there | numbered)] + [
        {
            "original_id": None,
            "state": "malformed",
            "reason": f"metadata.json: {name[:60]!r} is no number of an objective",
        }
        for name in listed
        if not re.fullmatch(r"[0-9]{1,9}", name)
    ]


def _objective(files: Files, key: int, summary: Any, factors: Row) -> Row:
    row: Row = {"original_id": key, "state": "read", "reason": None}
    try:
        if not isinstance(summary, dict):
            raise Malformed("its entry in metadata.json is no object")
        path = files.folder("objectives") / f"objective_{key}.py"
        code = read_code(files.root / BASELINE_OBJECTIVE if key == 0 and not path.exists() else path)
        if not code.strip():
            raise Malformed(f"{path.name} is empty")
        factor = factors.get(str(key))
        return row | {
            "description": text(summary, "description", optional=True)
            or f"objective {key} of another search",
            "code": code,
            "round": whole(summary, "created_round") if "created_round" in summary else None,
            "workspace": text(summary, "source_workspace", optional=True) or None,
            "objective_id": objective_id(code),
            "reported_multiplier": number({"weight": factor}, "weight", 0, 1e6)
            if factor is not None
            else None,
        }
    except Malformed as error:
        return row | {"state": "malformed", "reason": str(error)}


def _states(files: Files) -> list[Row]:
    """Return the meta agent's reviews, oldest first. Raises InputError."""
    path = files.folder("meta_agent") / "state.json"
    if not path.exists():
        return []
    held = read_object(path)
    past = held.get("history") or []
    result = (
        [*past, *([held["current"]] if held.get("current") else [])] if isinstance(past, list) else [past]
    )
    if not isinstance(past, list) or not all(isinstance(item, dict) for item in result):
        raise InputError(
            f"{path} cannot be read",
            wanted="an object with `current` and a list `history` of objects",
            got="something else",
            do=DO,
        )
    return result


def _reviews(files: Files) -> list[Row]:
    return list(_each("meta_review", enumerate(_states(files)), _review))


def _review(_number: int, state: Row) -> Row:
    return {
        "title": f"review, {text(state, 'research_phase')}",
        "text": f"{text(state, 'research_assessment')}\nNext objectives: {text(state, 'objective_directions')}",  # noqa: E501
    }


def _logs(files: Files, name: str, summary: Callable[[int, Row], Row]) -> list[Row]:
    result = {
        int(match.group(1)): path
        for path in files.folder("llm_log").glob(f"{name}_*.json")
        if (match := _numbered(name, path))
    }
    return list(_each(name, sorted(result.items()), lambda key, path: summary(key, read_record(path))))


def _numbered(name: str, path: Path) -> re.Match[str] | None:
    return re.fullmatch(rf"{name}_(\d{{1,9}})", path.stem)


def _planner(_number: int, log: Row) -> Row:
    summary = log.get("summary")
    if not isinstance(summary, dict):
        raise Malformed("summary: wanted an object")
    parts = {name: summary.get(name) for name in ("key_insights", "success_patterns", "failure_patterns")}
    if not all(
        isinstance(part, list) and all(isinstance(item, str) for item in part) for part in parts.values()
    ):
        raise Malformed("summary: wanted lists of texts key_insights, success_patterns, failure_patterns")
    said = {name: text({name: "; ".join(part)}, name) for name, part in parts.items() if part}
    phase = text(summary, "current_phase", optional=True) or "no phase"
    return {
        "title": f"planner, {phase}",
        "text": "\n".join(f"{name.replace('_', ' ')}: {part}" for name, part in said.items()),
    }


def _analyses(files: Files) -> list[Row]:
    """One for each design: `designer_analysis_N.json`, or `designer_N.json` where only that is there."""
    first, second = _logs(files, "designer_analysis", _analysis), _logs(files, "designer", _analysis)
    result = {row["number"]: row | {"kind": "analysis"} for row in [*second, *first]}
    return [result[key] for key in sorted(result)]


def _analysis(key: int, log: Row) -> Row:
    said = log.get("analysis", log.get("final_analysis"))
    if not isinstance(said, dict):
        raise Malformed("analysis: wanted an object")
    level = text(said, "success_level")
    if level not in SUCCESS:
        raise Malformed(f"success_level: wanted one of {', '.join(SUCCESS)}")
    parts = [
        text(said, name)
        for name in ("key_insight", "detailed_analysis", "comparison_to_references", "recommended_next_steps")
    ]
    return {
        "title": text(said, "short_name"),
        "text": "\n".join(parts),
        "key_insight": parts[0][:600],
        "success_level": level,
    }


def _each(kind: str, result: Iterable[tuple[int, Any]], summary: Callable[[int, Any], Row]) -> Iterable[Row]:
    for key, item in result:
        row: Row = {"kind": kind, "number": key, "title": None, "text": None, "state": "read", "reason": None}
        try:
            row |= summary(key, item)
            if len(row["text"]) > MAX_TEXT:
                row |= {"text": row["text"][:MAX_TEXT], "reason": f"cut after {MAX_TEXT} characters"}
        except Malformed as error:
            row |= {"state": "malformed", "reason": str(error)}
        yield row
