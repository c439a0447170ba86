"""Files that the open grammar composes, through the real jail and engines, against the interpreter of its
expressions."""

from typing import Any

import numpy as np
from designs_genomes import OPEN_SEARCH, behind_a_slow_memory, open_search, without_the_majority_term

from evolake.designs.engines.engine import Simulation, WorkBounds, make_stepper, simulate
from evolake.designs.genome.open_behaviour import stepped
from evolake.designs.genome.open_compose import compose, recognised, states_after
from evolake.designs.genome.open_genetic import OPERATORS, parent_of, propose
from evolake.designs.genome.open_genome import OpenGenome, baseline, open_genome, with_values
from evolake.designs.genome.open_switch import switched
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import Planted, draw_formulas, planted, uniform_kind
from evolake.designs.tracing.trace import trace

STEPS, CHILDREN = 4, 12


def traced(source: str, pool: Any, dtype: str = "float64") -> TracedDesign:
    result = trace(source, pool=pool, dtype=dtype)
    assert isinstance(result, TracedDesign), result
    return result


def _check_against_the_interpreter(
    genome: OpenGenome, design: TracedDesign, instances: Planted, what: str
) -> None:
    """Step a design in double precision next to the interpreter of its genome."""
    stepper, _ = make_stepper(design, instances, seed=5, engine="torch", dtype="float64")
    state = stepper.state()
    for _ in range(STEPS):
        expected = [
            stepped(
                genome,
                {name: values[place] for name, values in state.items()},
                instances.idx[place],
                instances.sgn[place] * 1.0,
            )
            for place in range(instances.batch)
        ]
        stepper.run(1)
        state = stepper.state()
        for name, values in state.items():
            np.testing.assert_allclose(
                values, np.stack([item[name] for item in expected]), rtol=1e-6, atol=1e-6, err_msg=what
            )


def test_its_baseline_runs_like_the_shipped_file_and_the_shipped_file_is_recognised(pool, seed_files):
    shipped = states_after(traced(seed_files["baseline"].read_text(), pool))
    composed = states_after(traced(compose(baseline()), pool))
    for variable in shipped:
        np.testing.assert_allclose(composed[variable], shipped[variable], rtol=1e-6, atol=1e-6)
    assert recognised(seed_files["baseline"].read_text(), pool) == baseline()
    assert recognised(seed_files["design_340"].read_text(), pool) is None
    assert recognised(compose(with_values(baseline(), {"alpha": 5.5})), pool) is None
    assert recognised("no design", pool) is None


def test_title_and_rationale_are_not_part_of_what_a_design_is(pool):
    first = traced(compose(baseline(), "one", "x"), pool)
    second = traced(compose(baseline(), 'two """ \\ ', "y"), pool)
    assert first.graph_sha == second.graph_sha


def test_two_designs_in_turn_have_steps_of_their_own_lengths_in_the_file_as_in_the_interpreter(pool):
    base = baseline()
    pushed = open_genome(
        dict(base.drives) | {"force": ("sub", base.drive("force"), ("mul", 0.2, "u"))}, (), base.constants
    )
    child = switched(base, with_values(pushed, {"lr": 2.0}), np.random.default_rng(1))
    assert child is not None and "pace" in dict(child[0].drives)
    design = traced(compose(child[0]), pool, dtype="float64")
    _check_against_the_interpreter(child[0], design, planted(24, 3, 9), "switch")


def test_composed_children_do_what_their_expressions_say_and_run_in_kernels(pool):
    random = np.random.default_rng(23)
    parents, taken, graphs = [parent_of("base", "baseline", baseline())], {baseline().key()}, set()
    instances, operators = planted(24, 3, 9), [name for name in OPERATORS if name != "constants"]
    for number in range(CHILDREN):
        chosen = random.choice(len(parents), min(2, len(parents)), replace=False)
        child = propose(
            [parents[place] for place in chosen], taken, random, operator=operators[number % len(operators)]
        )
        assert child is not None and isinstance(child.genome, OpenGenome)
        taken.add(child.key())
        parents.append(parent_of(f"c{number}", child.title, child.genome))
        result = traced(child.source, pool)
        graphs.add(result.graph_sha)
        _check_against_the_interpreter(child.genome, result, instances, child.rationale)
        assert simulate(result, instances, max_steps=20, seed=5).engine == "fused", child.rationale
    assert len(graphs) == CHILDREN


def test_the_reference_design_of_the_search_is_its_genome(pool):
    shipped = states_after(traced(OPEN_SEARCH.with_name("open_search.py").read_text(), pool))
    composed = states_after(traced(compose(open_search()), pool))
    for variable in shipped:
        np.testing.assert_allclose(composed[variable], shipped[variable], rtol=1e-6, atol=1e-6)


def test_a_term_behind_a_slow_memory_of_the_formula_is_traced_compiled_and_does_something_for_both_kinds(
    pool,
):
    genome = behind_a_slow_memory(0.01, 0.15, 60.0)
    _check_against_the_interpreter(
        genome, traced(compose(genome), pool), planted(24, 3, 9), "behind a slow memory"
    )
    gated, without, always = (
        traced(compose(held), pool, "float32")
        for held in (genome, without_the_majority_term(), open_search())
    )

    def run(design: TracedDesign, formulas: Planted) -> Simulation:
        return simulate(design, formulas, max_steps=20_000, seed=1, bounds=WorkBounds(10_000))

    # hand-set values and few formulas: the gated term helps planted ones, and costs uniform ones less than
    # one that is always there
    hidden, uniform = planted(320, 16, 1), draw_formulas(uniform_kind(4.2), 160, 24, 1)
    assert run(gated, hidden).reached and run(gated, hidden).engine == "fused"
    assert run(gated, hidden).median_work < run(without, hidden).median_work
    assert run(gated, uniform).median_work < run(always, uniform).median_work


def test_every_number_of_the_formula_reaches_the_file_as_the_interpreter_computes_it(pool):
    sums = (
        "add",
        ("add", "true3", ("add", "true2", "true1")),
        ("add", "true0", ("div", "log_variables", ("add", "ratio", "speed"))),
    )
    base = baseline()
    drive = ("add", base.drive("xs"), ("mul", 0.01, ("add", sums, ("div", "clauses", "variables"))))
    genome = open_genome(dict(base.drives) | {"xs": drive}, (), base.constants)
    design = traced(compose(genome), pool)
    _check_against_the_interpreter(genome, design, planted(31, 2, 4), "numbers of the formula")
    assert design.size is None
    assert simulate(design, planted(31, 2, 4), max_steps=20, seed=5).engine == "fused"
