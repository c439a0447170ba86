"""Lift and polish in a generation of the operators: one candidate, which goes through all gates; what is
killed continues; and values that are none are their program's own affair."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from programs_fixtures import OWN, apart, made, rules

from assets.programs.evolve import polishes_of
from evolake.agents import open_agents
from evolake.lake import BlobStore
from evolake.programs.evolution import polished as module
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.evolution.generations import run_generation
from evolake.programs.evolution.outcome import Context, WorkNotes
from evolake.programs.evolution.polished import can_polish
from evolake.programs.evolution.population import Islands, Row, texts_of
from evolake.programs.evolution.search_memory import GenerationEntry
from evolake.programs.model.project import Project
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.search import proposing
from evolake.programs.search.lifting import lifted
from evolake.programs.search.trials import Group
from evolake.settings import Settings

PLACES = """# EVOLVE-BLOCK-START
def place(case):
    return [k / 10 for k in range(6)]
# EVOLVE-BLOCK-END
"""
SPREAD = """def cases(seed):
    return [0, 1]


def score(cases, results):
    rows = [one["output"] for one in results]
    if not all(isinstance(row, list) and row and all(type(item) is float for item in row) for row in rows):
        return {"combined_score": -100.0}
    if any(not 0 <= item <= 2 for row in rows for item in row):
        return {"combined_score": -100.0}
    return {"combined_score": min(b - a for row in rows for a, b in zip(row, row[1:]))}
"""
TOML = '[program]\nentry = "place"\n[evaluator]\nmode = "separate"\ncpu_s = 2\nwall_s = 10\n'
SHORT = OWN.model_copy(
    update={"polish_s": 3.0, "candidates_per_generation": 1, "islands": 1, "memory_mb": 2048}
)


def project(program: str = PLACES, evaluator: str = SPREAD) -> Project:
    return apart(program, evaluator, TOML)


@pytest.fixture
def always(monkeypatch) -> None:
    """A bandit that draws the polish whenever it is offered, in parts of a second."""
    monkeypatch.setattr(proposing, "POLISHING", Group((1e9, 1e-3), {"polish": (1.0, 1.0)}))
    monkeypatch.setattr(module, "PART_S", 1.0)


def generation(
    given: Project, lake: Path, notes: WorkNotes = WorkNotes()
) -> tuple[Row, GenerationEntry, BlobStore]:
    """(row of the initial program, what one generation of it made, the blobs)."""
    blobs = BlobStore(lake)
    start, _ = admit(given, SHORT, rules(), blobs, cycle="0001", run_id="r", root_seed=0, mode=None)
    islands = Islands(given, SHORT, {start["program_id"]: start | {"state": "champion"}})
    with (
        open_agents(Settings(workers=1), lake, "0001", "run", line="programs") as agents,
        Evaluator(given, SHORT) as evaluator,
    ):
        context = Context(evaluator, SHORT, agents, blobs, rules(), "0001", "run", 0, 1, polishes=notes)
        entry = run_generation(context, islands, 1, next_number=1, seen={start["program_id"]}, artifacts={})
    return start, entry, blobs


def test_a_program_is_lifted_polished_and_judged_as_one_candidate(always, tmp_path):
    start, entry, blobs = generation(project(), tmp_path)
    [row] = entry.programs
    assert (row["operator"], row["state"], row["parents"]) == ("polish", "accepted", [start["program_id"]])
    assert start["score"] == pytest.approx(0.1) and row["score"] > 0.2  # 0.4 with time enough
    text = texts_of(blobs, row["files_sha"])["initial_program.py"]
    assert "range" not in text and text.startswith("# EVOLVE-BLOCK-START\ndef place(case):\n    return [")
    gates = [verdict["gate"] for verdict in entry.verdicts]
    assert {"form", "run", "result", "novel"} <= set(gates)
    spent = {item["purpose"]: item for item in entry.measured}
    assert spent["polish"]["score"] is None and 3.0 <= spent["polish"]["cpu_s"] < 10
    assert spent["search"]["score"] == row["score"] and spent["polish"]["program_id"] == row["program_id"]


def test_a_lifted_program_scores_exactly_as_its_parent():
    own = PLACES.replace("k / 10", "k / 7 - (k % 3) / 11")
    with Evaluator(project(own), SHORT) as evaluator:
        value = evaluator.constant_value({"initial_program.py": own}, [0, 1])
        text = lifted(own, "place", "initial_program.py", value)
        assert text is not None and "range" not in text
        first, second = (evaluator.evaluate({"initial_program.py": item}, 0) for item in (own, text))
    assert first.ok and first.metrics == second.metrics


def test_a_polish_that_is_killed_goes_on_with_what_it_had(always, tmp_path):
    notes: dict[tuple[int, str], Mapping[str, Any]] = {}

    def note(place: int, key: str, state: Mapping[str, Any]) -> None:
        notes[place, key] = json.loads(json.dumps(state))
        if state["parts"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generation(project(), tmp_path, WorkNotes({}, note))
    [((_, key), held)] = notes.items()
    assert held["parts"] == 2 and held["seconds"] >= 2
    parts: list[int] = []

    def again(place: int, own: str, state: Mapping[str, Any]) -> None:
        assert own == key
        parts.append(state["parts"])

    _, entry, _ = generation(project(), tmp_path, WorkNotes(notes, again))
    assert parts == [3] and entry.programs[0]["score"] >= held["score"]
    parts.clear()
    with pytest.raises(AssertionError):
        generation(project(PLACES.replace("10", "9")), tmp_path, WorkNotes(notes, again))
    assert parts == []  # the notes of another program are not continued


def test_notes_of_the_lake_are_read_back_by_the_next_run(tmp_path):
    tables: dict[str, list[Row]] = {}
    said: list[str] = []
    store: Any = SimpleNamespace(
        cycle="0001",
        blobs=BlobStore(tmp_path),
        has=tables.__contains__,
        rows=tables.__getitem__,
        extra=lambda schema, rows, name: tables.update({name: schema.frame(rows).to_dicts()}),
        log=said.append,
    )
    names: tuple[Any, ...] = tuple(
        SimpleNamespace(name=name, higher_is_better=False) for name in ("toy", "other", "another")
    )
    toy, other, another = names
    earlier = {"project": "toy", "generation": 3, "key": "key", "entry_sha": "0" * 64}
    tables["polish_notes"] = [earlier]  # of a version whose notes had no place
    assert polishes_of(store, toy).held == {}
    first = polishes_of(store, toy)
    state = {"seconds": 10.0, "score": None, "parts": 1, "by": "its score"}
    first.note(3, "key", state)
    first.note(3, "key", state | {"score": -0.5, "parts": 2})
    polishes_of(store, other).note(3, "theirs", state)
    again = polishes_of(store, toy)
    assert again.held == {(3, "key"): state | {"score": -0.5, "parts": 2}}
    assert said[:2] == [
        "toy: 10 s of a polish by its score, best nothing yet",
        "toy: 10 s of a polish by its score, best 0.5",
    ]
    assert polishes_of(store, another).held == {}


LIES = {
    "no numbers": "return [float('nan')] * 6",
    "infinite": "return [1e999] * 6",
    "huge": "return [0.5] * 1_000_000",
    "a text": "return '[1, 2]'",
    "another each time": "import random\n    return [random.random() + case, 2.0]",
    "deep": "value = [1.0]\n    for _ in range(900):\n        value = [value]\n    return value",
    "raises": "return 1 // 0",
    "an object with a mouth": (
        "class Evil(list):\n        def __repr__(self):\n            raise SystemExit(0)\n"
        "        def __len__(self):\n            return -1\n"
        "        def tolist(self):\n            return self\n"
        "    return object.__new__(Evil)"
    ),
}


@pytest.mark.parametrize("body", LIES.values(), ids=LIES)
def test_a_value_that_is_none_is_never_lifted(body):
    with Evaluator(project(), SHORT) as evaluator:
        assert can_polish(evaluator, [0])
        text = PLACES.replace("return [k / 10 for k in range(6)]", body)
        assert evaluator.constant_value({"initial_program.py": text}, [0]) is None


def test_a_child_that_cannot_be_lifted_is_made_by_another_operator(always, tmp_path):
    moving = PLACES.replace("k / 10", "k / 10 + 0.001 * case")
    given = project(moving)
    _, entry, _ = generation(given, tmp_path)
    assert [row["operator"] for row in entry.programs] != ["polish"]


def test_an_evaluator_that_fails_on_other_numbers_ends_no_generation(always, tmp_path):
    ending = SPREAD.replace(
        "    rows =", "    import os\n    if results[0]['output'][1] != 0.1:\n        os._exit(1)\n    rows ="
    )
    _, entry, _ = generation(project(evaluator=ending), tmp_path)
    assert all(row["operator"] != "polish" or row["state"] == "blocked" for row in entry.programs)


def test_a_project_without_an_entry_is_not_polished():
    toml = '[program]\nrun = "python initial_program.py"\n[evaluator]\nmode = "separate"\n'
    given = made({"initial_program.py": PLACES, "evaluator.py": SPREAD, "project.toml": toml})
    with Evaluator(given, SHORT) as evaluator:
        assert not can_polish(evaluator, [0])
