"""`evolake lake trace`: the history of each line as plain files, which `evolake audit` reads as a finished
run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import commands
import pytest
from bundle_fixtures import family_lake, improved_design_lake, improved_program_lake, improved_prompt_lake
from programs_fixtures import calls
from solver_lake import ID, make_lake

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.programs.audit.runs import read_run

EVALUATOR = """import importlib.util


def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {"combined_score": 2.0 - abs(program.run() - 1.0)}
"""
INITIAL, BETTER = "def run():\n    return 0.5\n", "def run():\n    return 1.0\n"
PROJECT = calls(EVALUATOR, INITIAL, project__toml='[evaluator]\nmode = "calls"\n')
LAKES: dict[str, Callable[[Path], object]] = {
    "designs": improved_design_lake,
    "families": family_lake,
    "programs": lambda root: improved_program_lake(root, PROJECT, BETTER),
    "prompts": improved_prompt_lake,
    "solvers": make_lake,
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> dict[str, Path]:
    """line -> the folder of its trace."""
    result = {}
    for line, made in LAKES.items():
        folder = tmp_path_factory.mktemp(line)
        made(folder / "lake")
        done = commands.evolake("lake", "trace", line, "--out", folder / "trace", "--lake", folder / "lake")
        assert done.returncode == 0, done.stderr
        result[line] = folder / "trace"
    return result


def records(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "candidates.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("line", LAKES)
def test_a_trace_has_every_artifact_after_its_parents_with_texts_by_their_hash(traces, line):
    folder, found = traces[line], records(traces[line])
    head = json.loads((folder / "trace.json").read_text())
    assert (head["line"], head["candidates"]) == (line, len(found))
    born = {entry["id"]: entry["number"] for entry in found}
    assert [entry["number"] for entry in found] == list(range(len(found)))
    for entry in found:
        assert all(born[parent["id"]] < entry["number"] for parent in entry["parents"])
    blobs = [path for path in (folder / "blobs").rglob("*") if path.is_file()]
    assert {hashlib.sha256(path.read_bytes()).hexdigest() for path in blobs} == {path.name for path in blobs}
    named = {sha for entry in found for sha in [*entry["files"].values(), entry["diff"]] if sha}
    assert named == {path.name for path in blobs}


@pytest.mark.parametrize("line", LAKES)
def test_an_audit_reads_a_trace_as_a_finished_run(traces, line):
    run, found = read_run(traces[line]), records(traces[line])
    head = json.loads((traces[line] / "trace.json").read_text())
    own = [entry for entry in found if entry["kind"] == head["kind"] and entry["files"]]
    assert run is not None and run.tool == "evolake"
    assert [item.program_id for item in run.candidates] == [entry["id"] for entry in own]
    assert [item.score for item in run.candidates] == [entry["score"] for entry in own]
    if champions := [entry["id"] for entry in own if entry["champion_in"]]:
        assert run.best_id in champions


def test_a_record_has_parents_diff_score_verdicts_tokens_and_seconds(traces):
    by_id = {entry["id"]: entry for entry in records(traces["solvers"])}
    fast, liar = by_id[ID["fast"]], by_id[ID["liar"]]
    assert (fast["operator"], fast["cycle"], fast["champion_in"]) == ("tunable", "0002", ["0002"])
    assert [parent["id"] for parent in fast["parents"]] == [ID["tuned"]]
    assert fast["score"] == fast["scores"]["consensus_ranking"]["consensus"] and not fast["higher_is_better"]
    assert {row["outcome"] for row in liar["verdicts"]} >= {"block"}
    program = next(entry for entry in records(traces["programs"]) if entry["parents"])
    blobs = traces["programs"] / "blobs"
    diff = (blobs / program["diff"][:2] / program["diff"]).read_text()
    assert "-    return 0.5\n+    return 1.0\n" in diff
    assert program["higher_is_better"] and program["score"] == 2.0
    assert program["tokens"].keys() == {"calls", "input", "cached", "output", "usd"}
    assert program["seconds"].keys() == {"model", "evaluations", "cpu"}


def test_the_command_audits_a_trace_and_refuses_a_damaged_one(traces, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for name, data in PROJECT.files.items():
        (folder / name).write_bytes(data)
    words = ["audit", traces["programs"], "--project", folder, "--only", "gain", "--seconds", "8", "--json"]
    done = commands.evolake(*words)
    found = json.loads(done.stdout)
    assert found["figures"]["gain"]["tool"] == "evolake" and found["figures"]["gain"]["best program"] == "2"
    sha = next(iter(records(traces["programs"])[0]["files"].values()))
    path = traces["programs"] / "blobs" / sha[:2] / sha
    before = path.read_bytes()
    path.write_bytes(before + b"#")
    done = commands.evolake(*words)
    path.write_bytes(before)
    assert done.returncode == 2 and "another sha256" in done.stderr


def test_a_trace_that_lost_records_is_refused_with_both_numbers(traces, tmp_path):
    folder = shutil.copytree(traces["programs"], tmp_path / "trace")
    lines = (folder / "candidates.jsonl").read_text().splitlines(keepends=True)
    (folder / "candidates.jsonl").write_text("".join(lines[:-1]))
    said = f"candidates.jsonl has {len(lines) - 1} records, and trace.json states {len(lines)}"
    with pytest.raises(InputError, match="the evolake run at .* cannot be read") as caught:
        read_run(folder)
    assert said in caught.value.got


def test_what_cannot_be_traced_is_a_sentence(traces, tmp_path):
    lake = traces["solvers"].parent / "lake"
    for words, said in (
        (["nosuch"], "no artifacts of 'nosuch'"),
        (["repair"], "no artifacts of 'repair'"),
        (["solvers", "--project", "x"], "solvers has no project 'x'"),
    ):
        done = commands.evolake("lake", "trace", *words, "--out", tmp_path / "out", "--lake", lake)
        assert done.returncode == 2 and said in done.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    done = commands.evolake("lake", "trace", "solvers", "--out", tmp_path / "full", "--lake", lake)
    assert done.returncode == 2 and "is not empty" in done.stderr
    assert not (tmp_path / "out").exists() and isinstance(Lake(lake), Lake)
