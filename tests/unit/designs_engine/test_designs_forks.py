"""Engines' processes are forked from one server: workers use that of the process that started them, and the
death of one is no other's."""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from unit.designs_engine.engine_support import SIMPLE, traced

from evolake.designs.engines import forked_process, isolated
from evolake.designs.engines.isolated import Run, fits_apart, run_apart, states_apart
from evolake.designs.model.contract import Blocked
from evolake.designs.model.graph import Graph
from evolake.designs.model.graph_check import check_all

DESIGN = traced(SIMPLE)
SIZES = [(3, 11, 47), (2, 40, 172)]


def parent_of_engine() -> int:
    """The number of the process that forked the engine of this process."""
    assert (
        run_apart(
            Run(json.dumps(DESIGN.to_json()), 20, 4, seed=3, max_steps=5, instance_seed=3, ratio=4.3)
        ).failure
        is None
    )
    stat = Path(f"/proc/{isolated._CHILDREN[0]._process.pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


@pytest.fixture
def own_server():
    """No server yet, and none left."""
    isolated.close()
    yield
    isolated.close()


def test_a_worker_has_its_engine_from_the_server_of_the_process_that_started_it(own_server):
    here = parent_of_engine()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as workers:
        assert workers.submit(parent_of_engine).result() == here


def test_another_program_does_not_use_the_server_that_its_environment_names(own_server):
    parent_of_engine()
    owner, _, name = os.environ[forked_process.ADDRESS].partition(":")
    assert (owner, bool(name)) == (str(os.getpid()), True)
    program = (
        "from evolake.designs.engines import forked_process as f; import sys\n"
        "process = f.forked('evolake.designs.no_such_module', {}, 0, 1, sys.stderr.buffer)\n"
        "print(len(f._SERVERS))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr


def test_a_server_that_has_died_takes_its_engine_along_and_the_next_run_has_both_again(own_server):
    first = parent_of_engine()
    forked_process._SERVERS[0]._process.kill()
    forked_process._SERVERS[0]._process.wait()
    assert parent_of_engine() != first


def test_shapes_are_worked_out_as_here():
    variables = {variable.name: variable for variable in DESIGN.variables}
    graph = DESIGN.gradient()
    raw = graph.to_json()
    vast = Graph.from_json(raw | {"nodes": [*raw["nodes"], ["zeros.default", [[10**9]], {}]]})
    misfit = Graph.from_json(
        raw | {"nodes": [*raw["nodes"], ["matmul.default", [{"ref": 0}, {"ref": 0}, {"ref": 0}], {}]]}
    )
    results = [
        [fits(item, variables, SIZES, False) for item in (graph, vast, misfit)]
        for fits in (fits_apart, check_all)
    ]
    assert results[0] == results[1]
    assert [type(item) for item in results[0]] == [type(None), Blocked, Blocked]


def test_states_come_back_or_why_there_are_none():
    text = json.dumps(traced(SIMPLE, dtype="float64").to_json())
    states = states_apart(text, 20, 4, 3, 2)
    assert not isinstance(states, str)
    assert {name: state.shape for name, state in states.items()} == {
        "v": (4, 20),
        "xl": (4, 86),
        "xs": (4, 86),
    }
    assert isinstance(states_apart("{}", 20, 4, 3, 2), str)
