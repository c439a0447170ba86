"""The same seed gives the same rows however busy the host is; what the host could not evaluate is unknown,
and no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from busy_host import busy_host
from programs_fixtures import PROGRAM, calls, imports, judged, rules

from evolake.agents import open_agents
from evolake.errors import HostBusy
from evolake.jail import Limits, patience
from evolake.lake import VERDICTS, BlobStore
from evolake.lake.hashing import content_hash
from evolake.programs.evolution import generations
from evolake.programs.evolution import program_contest as duel
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.evolution.generations import UNKNOWN, run_generation
from evolake.programs.evolution.outcome import Context, WorkNotes
from evolake.programs.evolution.population import Islands, Population
from evolake.programs.evolution.program_contest import decide_champion, read_evaluations
from evolake.programs.evolution.search_memory import GenerationEntry
from evolake.programs.model.project import Project, limits_of
from evolake.programs.sandbox import evaluating
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import DECISIONS, MEASURED, PROGRAMS
from evolake.seeds import CycleSeeds
from evolake.settings import Settings

COMPUTING = """import importlib.util


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    for _ in range(12_000_000):
        pass
    gap = abs(sum(program.run()) - 31.4159)
    return {"combined_score": 1 / (1 + gap), "gap": gap}
"""
"""An evaluator that needs about a quarter of a second of a processor."""
OWN = ProgramsSettings(
    cpu_s=1,
    wall_s=1,
    memory_mb=512,
    processes=0,
    islands=1,
    candidates_per_generation=2,
    heldout_repeats=2,
    generations_per_cycle=1,
)
SLEEPING = PROGRAM.replace("    scale = 2.0\n", "    import time\n    time.sleep(60)\n    scale = 2.0\n")
SPINNING = PROGRAM.replace("    scale = 2.0\n", "    while True:\n        pass\n    scale = 2.0\n")
TIGHT = OWN.model_copy(update={"cpu_s": 0.6})
CYCLE = CycleSeeds(0, "programs", "0001")


def cycle(
    project: Project, lake: Path, own: ProgramsSettings = OWN
) -> tuple[GenerationEntry, dict, list[dict]]:
    """(one generation by the operators, the decision about the champion, rows of its evaluations)."""
    blobs, settings = BlobStore(lake), Settings(workers=1)
    start, _ = admit(project, own, rules(), blobs, cycle="0001", run_id="r", root_seed=0, mode=None)
    islands = Islands(project, own, {start["program_id"]: start | {"state": "champion"}})
    with (
        open_agents(settings, lake, "0001", "run", line="programs") as agents,
        Evaluator(project, own) as evaluator,
    ):
        context = Context(evaluator, own, agents, blobs, rules(), "0001", "run", 0, 1)
        entry = run_generation(context, islands, 1, next_number=1, seen={start["program_id"]}, artifacts={})
    population = Population.empty().add(programs=[start])
    met = decide_champion(project, islands, population, blobs, own=own, cycle_seeds=CYCLE, mode=None)
    return entry, met.decision, met.measured


def hashes(entry: GenerationEntry, decision: dict, measured: list[dict]) -> dict[str, str]:
    """Table -> hash of its content as a lake has it, which leaves times out."""
    rows = (
        (PROGRAMS, entry.programs),
        (VERDICTS, entry.verdicts),
        (MEASURED, [*entry.measured, *measured]),
        (DECISIONS, [decision]),
    )
    return {schema.name: content_hash(schema.frame(held), schema.provenance) for schema, held in rows}


@pytest.fixture
def short(monkeypatch) -> list[Limits]:
    """A first try that is not stretched, and further ones that are; what was cut off by the host."""
    cut: list[Limits] = []
    run = evaluating.run_native

    def noting(*arguments, **options):
        outcome = run(*arguments, **options)
        if outcome.starved:
            cut.append(arguments[1])
        return outcome

    monkeypatch.setattr(evaluating, "run_native", noting)
    monkeypatch.setattr(patience, "STRETCH", 1.0)
    monkeypatch.setattr(patience, "GROWTH", 16.0)
    monkeypatch.setattr(patience, "QUIET_S", 0.0)
    return cut


@pytest.mark.long
def test_a_cycle_gives_the_same_rows_on_an_idle_and_on_a_busy_host(tmp_path, short):
    project = imports(COMPUTING)
    with busy_host(12):
        busy = cycle(project, tmp_path / "busy", TIGHT)
    assert short, "the clock has to end an evaluation, or nothing is tried here"
    idle = cycle(project, tmp_path / "idle", TIGHT)
    assert len(idle[0].programs) == 2 and not idle[0].unanswered and len(idle[2]) > 4
    assert hashes(*busy) == hashes(*idle)


def test_a_sleeping_program_is_blocked_with_its_reason(tmp_path):
    with busy_host():
        (gate, reason), _ = judged(imports(), BlobStore(tmp_path), SLEEPING, own=OWN)
    slept = (
        "its evaluation ended as timeout: still running after 2 s of wall clock, most of which it slept "
        "or waited"
    )
    assert (gate, reason) == ("run", slept)


def test_a_program_without_end_is_blocked_by_its_processor_time(tmp_path):
    with busy_host():
        (gate, reason), _ = judged(imports(), BlobStore(tmp_path), SPINNING, own=OWN)
    assert (gate, reason) == ("run", "its evaluation ended as cpu: used more than 1 s of processor time")


def test_a_program_that_waits_for_its_busy_evaluator_is_not_blocked(tmp_path, short):
    project = calls(COMPUTING.replace("12_000_000", "6_000_000"))
    assert project.mode == "calls"
    with busy_host(8):
        blocked, candidate = judged(project, BlobStore(tmp_path), own=OWN)
    assert blocked == ("", "") and candidate.evaluations[0].ok


def test_what_a_busy_host_could_not_evaluate_is_unknown_and_may_be_proposed_again(tmp_path, monkeypatch):
    project = imports()
    whole, *_ = cycle(project, tmp_path / "whole")
    first = whole.programs[0]["program_id"]
    judge = generations.judge

    def busy_for_the_first(candidate, *arguments, **options):
        if candidate.program_id == first:
            raise HostBusy("the host was too busy")
        return judge(candidate, *arguments, **options)

    monkeypatch.setattr(generations, "judge", busy_for_the_first)
    entry, *_ = cycle(project, tmp_path / "busy")
    assert entry.unanswered == [UNKNOWN]
    held = [
        *entry.programs,
        *entry.verdicts,
        *entry.measured,
        *entry.derivations,
        *entry.calls,
        *entry.islands,
    ]
    assert first not in json.dumps(held)
    assert [row["program_id"] for row in entry.programs] == [row["program_id"] for row in whole.programs[1:]]


def test_a_duel_that_a_busy_host_cuts_off_changes_nothing_and_notes_no_half_seed(tmp_path, monkeypatch):
    evaluate, asked = Evaluator.evaluate, []

    def busy_later(evaluator, texts, seed, *arguments, **options) -> Evaluation:
        asked.append(seed)
        if len(asked) > 6:
            raise HostBusy("the host was too busy to run an evaluation of toy")
        return evaluate(evaluator, texts, seed, *arguments, **options)

    project, blobs = imports(), BlobStore(tmp_path)
    start, _ = admit(project, OWN, rules(), blobs, cycle="0001", run_id="r", root_seed=0, mode=None)
    other = start | {"program_id": "f" * 64, "number": 1, "operator": "tune"}
    islands = Islands(
        project, OWN, {row["program_id"]: row for row in (start | {"state": "champion"}, other)}
    )
    monkeypatch.setattr(Evaluator, "evaluate", busy_later)
    notes: list[tuple[int, str, dict]] = []
    met = decide_champion(
        project,
        islands,
        Population.empty().add(programs=[start]),
        blobs,
        own=OWN.model_copy(update={"heldout_repeats": 6}),
        cycle_seeds=CYCLE,
        mode=None,
        notes=WorkNotes(note=lambda *given: notes.append(given)),
    )
    assert met.decision["reason"] == "unknown: the host was too busy to run an evaluation of toy"
    assert (
        not met.decision["wins"] and met.decision["holder_id"] == start["program_id"] and met.measured == []
    )
    assert [place for place, *_ in notes] == [0, 1], "the third seed was cut off"
    assert set(read_evaluations(notes[0][2])) == {"champion", "again", "challenger"}
    assert set(duel.UNDECIDED) < set(met.decision)


@pytest.mark.parametrize(("times", "mode"), [(3, "calls"), (30_000, "imports")])
def test_how_evaluator_and_program_meet_follows_from_counts_of_calls(times, mode):
    asking = f"    for x in range({times}):\n        program.answer(x)\n    gap ="
    project = calls(COMPUTING.replace("    for _ in range(12_000_000):\n        pass\n    gap =", asking))
    own = OWN.model_copy(update={"cpu_s": 10})
    found = [with_mode(project, own.model_copy(update={"most_programs": place + 1})) for place in range(2)]
    assert [item.mode for item in found] == [mode] * 2
    assert found[0].open_because == found[1].open_because
    assert mode == "calls" or found[0].open_because.startswith("calls take too long: 30,002 of them carry ")


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("cpu_s = 3\nwall_s = 4\n", (3, 6)),
        ("wall_s = 4\n", (4, 8)),
        ("cpu_s = 3\n", (3, 60)),
        ("cpu_s = 50\n", (50, 100)),
        ("", (30, 60)),
    ],
)
def test_the_clock_gives_a_program_at_least_twice_its_processor_time(toml, expected):
    limits = limits_of(imports(project__toml=f'[evaluator]\nmode = "imports"\n{toml}'), ProgramsSettings())
    assert (limits["cpu_s"], limits["wall_s"]) == expected
