"""Runs in a process that may die: its death, a step that does not end and a compilation that does not are
results of the design that was run."""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
from unit.designs_engine.engine_support import BASELINE, SIMPLE, VARIABLES, traced

from evolake.designs.engines import isolated
from evolake.designs.engines.engine import EngineChoice, simulate
from evolake.designs.engines.isolated import Run, engine_apart, run_apart
from evolake.designs.evolution.design_contest import Contender, decide_champion
from evolake.designs.evolution.experiments import Job, run_jobs
from evolake.designs.model.contract import TracedDesign, Variable, identity
from evolake.designs.model.instances import planted
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import DUELS, EXPERIMENTS
from evolake.errors import InputError, MachineryError
from evolake.seeds import CycleSeeds

DIES = (
    VARIABLES
    + """
def _grad_single(vars, idx, sgn, hp):
    least = (vars["v"][:1] * 0).to(torch.int64) + torch.full((1,), -(2**63), dtype=torch.int64)
    bad = torch.div(least, torch.full((1,), 77, dtype=torch.int64), rounding_mode="trunc")
    return {"v": vars["v"] * 0 + bad.to(vars["v"].dtype), "xl": vars["xl"], "xs": vars["xs"]}
"""
)
OUTSTAYS = (
    VARIABLES
    + """
def _grad_single(vars, idx, sgn, hp):
    a = vars["v"][:1].expand(400)[:, None].expand(400, 400)
    for _ in range(200):
        a = (a @ a) * 1e-3
    return {"v": vars["v"] + a[0, 0], "xl": vars["xl"], "xs": vars["xs"]}
"""
)
SETTINGS = DesignsSettings(
    batch=6,
    champion_repeats=1,
    low=FidelitySettings(max_n=20, max_steps=100, core_s=20),
    medium=FidelitySettings(max_n=20, max_steps=100, core_s=20),
    high=FidelitySettings(max_n=20, max_steps=100, core_s=20),
)


def text(source: str) -> str:
    """A traced design. The divisor of DIES is put in afterwards, as in a forged reply: tracing works with
    real numbers, and would die too."""
    data = traced(source).to_json()
    for node in data["graph"]["gradient"]["nodes"]:
        if node[0] == "full.default" and node[1][1] == 77:
            node[1][1] = -1
    variables = tuple(Variable(name, tuple(shape), low, high) for name, shape, low, high in data["variables"])
    return json.dumps(data | {"graph_sha": identity(variables, data["graph"], data["hyper_values"])})


def run(source: str, **more) -> Run:
    return replace(Run(text(source), 20, 10, seed=3, max_steps=300, instance_seed=3, ratio=4.3), **more)


def test_a_run_apart_gives_what_a_run_here_gives():
    here = simulate(traced(BASELINE.read_text()), planted(20, 10, 3), max_steps=300, seed=3)
    parts: list[int] = []
    apart = run_apart(run(BASELINE.read_text()), lambda steps, solved: parts.append(steps))
    for name in (
        "median_step",
        "unsolved_fraction",
        "steps_run",
        "engine",
        "timed_out",
        "diverged",
        "reached",
        "note",
        "failure",
    ):
        assert getattr(apart, name) == getattr(here, name)
    assert apart.solved_at.tolist() == here.solved_at.tolist()
    assert parts


@pytest.mark.parametrize("engine", ["auto", "mixed", "torch", "reference"])
def test_a_design_that_kills_its_process_is_unsolved_and_the_next_one_runs(engine):
    result = run_apart(run(DIES, engine=engine))
    assert (result.unsolved_fraction, result.reached, result.failure) == (
        1.0,
        False,
        "the process that ran it died by SIGFPE",
    )
    assert run_apart(run(SIMPLE)).failure is None


def test_a_step_that_does_not_end_is_stopped_by_what_it_computes():
    result = run_apart(run(OUTSTAYS, n=60, batch=60, guard_s=1.0))
    assert (result.unsolved_fraction, result.timed_out) == (1.0, False)
    assert result.failure == "stopped after 4 processor seconds: it did not end"


def test_a_run_that_starves_is_begun_again_with_more_time_and_is_unknown_when_it_starves_each_time(
    monkeypatch,
):
    """The child is stopped for good in the middle of a run, as on a machine that gives it nothing; then only
    at the first try."""
    monkeypatch.setattr(isolated, "GRACE_S", 0.0)
    monkeypatch.setattr(isolated, "PATIENCE", 2)
    stopped: list[int] = []

    def starve(times: int):
        def stop(steps: int, solved: int) -> None:
            pid = isolated._CHILDREN[0]._process.pid
            if pid not in stopped and len(stopped) < times:
                stopped.append(pid)
                os.kill(pid, signal.SIGSTOP)

        return stop

    wanted = run(SIMPLE, n=100, batch=50, max_steps=300, until_median=False, guard_s=0.4)
    once = run_apart(wanted, starve(1))
    assert (once.failure, once.timed_out, once.steps_run, len(stopped)) == (None, False, 300, 1)
    stopped.clear()
    always = run_apart(wanted, starve(99))
    assert (always.timed_out, always.reached, len(set(stopped))) == (True, False, isolated.TRIES)
    assert (always.failure or "").startswith("cut by the clock after 3.2 s in which it got ")
    assert run_apart(run(SIMPLE)).failure is None


def test_an_engine_that_is_not_ready_in_time_is_stopped(monkeypatch):
    monkeypatch.setattr(isolated, "MAKE_S", 0.0)
    result = run_apart(run(SIMPLE))
    assert (result.timed_out, result.failure) == (
        False,
        "stopped after 0 processor seconds: its engine could not be made",
    )


def test_schedule_and_duel_have_a_row_for_a_design_that_kills_its_process():
    dead, fine = text(DIES), text(SIMPLE)
    with ThreadPoolExecutor(2) as pool:
        rows = run_jobs(
            pool,
            [
                Job(name, design, "low", "0001", "test", 7, SETTINGS)
                for name, design in (("dead", dead), ("fine", fine))
            ],
        )
        duel = decide_champion(
            Contender("dead", dead),
            Contender("fine", fine),
            Contender("fine", fine),
            executor=pool,
            settings=SETTINGS,
            profile="test",
            cycle_seeds=CycleSeeds(1, "designs", "0001"),
        )
    assert (rows[0]["design_id"], rows[0]["N"], rows[0]["failure"]) == (
        "dead",
        10,
        "the process that ran it died by SIGFPE",
    )
    assert all(row["failure"] is None for row in rows[1:]) and len(rows) >= 2
    assert EXPERIMENTS.frame(rows)["unsolved_fraction"][0] == 1.0
    assert duel.champion_id == "fine"
    assert set(DUELS.frame(duel.trials).filter(design_id="dead")["failure"]) == {
        "the process that ran it died by SIGFPE"
    }


def test_the_engine_of_a_design_is_asked_apart_too():
    assert engine_apart(text(SIMPLE), 16, 68, "float32") == ("fused", None)
    assert engine_apart(text(DIES), 16, 68, "float32")[0] != "fused"
    assert run_apart(run(SIMPLE)).failure is None


def test_a_wrong_run_is_still_the_users_mistake_and_a_child_that_cannot_start_is_ours(monkeypatch):
    with pytest.raises(InputError, match="nothing to run"):
        run_apart(run(SIMPLE, max_steps=0))
    isolated.close()
    monkeypatch.setattr(isolated, "MODULE", "evolake.designs.no_such_module")
    with pytest.raises(MachineryError, match="did not start"):
        run_apart(run(SIMPLE))
    monkeypatch.undo()
    assert run_apart(run(SIMPLE)).failure is None


@pytest.mark.parametrize(
    "forged",
    [
        {"median_step": -1},
        {"median_step": True},
        {"unsolved_fraction": 2.0},
        {"unsolved_fraction": "0"},
        {"steps_run": 10**9},
        {"solved_at": [1]},
        {"solved_at": [1.5] * 10},
        {"cpu_s": float("nan")},
        {"diverged": 11},
        {"work_per_step": 0.0},
        {"work_per_step": -1.0},
        {"limit": 10**12},
        {"left_again": 11},
        {"together_step": 0},
    ],
    ids=str,
)
def test_a_result_that_cannot_be_is_a_failure(forged):
    wanted = run(SIMPLE)
    honest = {
        "median_step": 5,
        "unsolved_fraction": 0.4,
        "steps_run": 5,
        "solved_at": [1] * 10,
        "cpu_s": 0.1,
        "wall_s": 0.1,
        "engine": "fused",
        "timed_out": False,
        "diverged": 0,
        "reached": True,
        "compile_s": 0.0,
        "note": None,
        "failure": None,
        "together_step": None,
        "left_again": 0,
        "limit": 300,
        "work_per_step": 1.0,
    }
    assert isolated._simulation(honest, wanted).failure is None
    assert (
        isolated._simulation(honest | forged, wanted).failure
        == "the process that ran it sent a result that cannot be"
    )


def at_one_size(symbol: list[int]) -> TracedDesign:
    """SIMPLE with an axis of zeros whose extent is `symbol` in (B, N, M, 1); its sum is added to v."""
    data = traced(SIMPLE).to_json()
    graph = data["graph"]["gradient"]
    last = len(graph["nodes"])
    graph["nodes"] += [
        ["zeros.default", [[{"size": symbol}, {"size": symbol}]], {}],
        ["sum.default", [{"ref": last}], {}],
        ["add.Tensor", [{"ref": graph["outputs"]["v"]}, {"ref": last + 1}], {}],
    ]
    graph["outputs"]["v"] = last + 2
    design = traced(SIMPLE)
    return replace(design, graph=data["graph"])


@pytest.mark.parametrize("engine", ["auto", "torch", "reference"])
@pytest.mark.parametrize(
    ("symbol", "words"), [([0, 0, 500, 0], "numbers an instance"), ([0, -1, 0, 15], "does not fit itself")]
)
def test_sizes_are_bound_at_the_size_of_the_run_before_anything_is_allocated(engine, symbol, words):
    result = simulate(at_one_size(symbol), planted(20, 4, 0), max_steps=5, seed=0, by=EngineChoice(engine))
    assert result.failure is not None
    assert words in result.failure


def test_a_child_that_ended_between_two_requests_is_no_verdict_on_the_design_that_comes_next(monkeypatch):
    assert run_apart(run(SIMPLE)).failure is None
    process = isolated._CHILDREN[0]._process
    process.kill()
    process.wait()
    monkeypatch.setattr(isolated.Child, "alive", property(lambda child: True))
    assert run_apart(run(SIMPLE)).failure is None


def test_a_step_that_a_loaded_machine_holds_up_is_waited_for(monkeypatch):
    """The child stands still for twice its guard in the middle of a step, and has computed for a fraction of
    it."""
    monkeypatch.setattr(isolated, "GRACE_S", 0.0)
    held_up: list[threading.Timer] = []

    def hold_up(steps: int, solved: int) -> None:
        if not held_up:
            pid = isolated._CHILDREN[0]._process.pid
            os.kill(pid, signal.SIGSTOP)
            held_up.append(threading.Timer(2.2, os.kill, (pid, signal.SIGCONT)))
            held_up[0].start()

    result = run_apart(run(SIMPLE, n=100, batch=50, max_steps=300, until_median=False, guard_s=1.0), hold_up)
    assert held_up
    assert (result.failure, result.timed_out, result.steps_run) == (None, False, 300)


def test_a_child_is_waited_for_by_what_it_computes_and_by_the_clock(monkeypatch):
    """Seconds that the clock has run and that the child, or several threads of it, have computed -> whether
    its guard of 10 s is over."""
    clock, child = SimpleNamespace(now=100.0), SimpleNamespace(computed=7.0)
    child.cpu_s = lambda: child.computed
    monkeypatch.setattr(isolated, "time", SimpleNamespace(monotonic=lambda: clock.now))
    guard = isolated._Guard(child, 10.0)  # pyright: ignore[reportArgumentType]
    outcomes = {}
    for waited, computed in ((0, 0), (9, 9), (9, 18), (11, 11), (11, 2), (49, 0), (51, 0)):
        clock.now, child.computed = 100.0 + waited, 7.0 + computed
        outcomes[waited, computed] = guard.left_s() <= 0
    assert outcomes == {
        (0, 0): False,
        (9, 9): False,
        (9, 18): False,
        (11, 11): True,
        (11, 2): False,
        (49, 0): False,
        (51, 0): True,
    }
