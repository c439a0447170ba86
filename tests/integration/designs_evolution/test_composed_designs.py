"""Composed files through the real jail and engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from designs_genomes import parent_of_genome

from evolake.designs.genome.recognise import recognised, same_states, states_after
from evolake.designs.grammars.paper import GRAMMAR as PAPER
from evolake.designs.grammars.paper_genome.compose import compose
from evolake.designs.grammars.paper_genome.genetic import propose
from evolake.designs.grammars.paper_genome.genome import BASELINE, PaperGenome, design_340, genome, kinds
from evolake.designs.model.contract import TracedDesign
from evolake.designs.tracing.trace import trace

EVERYTHING = genome({}, {name: {} for name in kinds()})


def traced(design: PaperGenome | str, pool: Any, dtype: str = "float64") -> TracedDesign:
    result = trace(design if isinstance(design, str) else compose(design), pool=pool, dtype=dtype)
    assert isinstance(result, TracedDesign), result
    return result


@pytest.mark.parametrize("name", ["baseline", "design_340"])
def test_the_composed_seed_runs_like_the_shipped_file_over_five_steps(
    name: str, pool: Any, seed_files: dict[str, Path]
) -> None:
    own = {"baseline": BASELINE, "design_340": design_340()}[name]
    shipped = states_after(traced(seed_files[name].read_text(), pool))
    composed = states_after(traced(own, pool))
    assert set(shipped) == set(composed)
    for variable in shipped:
        np.testing.assert_allclose(composed[variable], shipped[variable], rtol=1e-6, atol=1e-6)


def test_seed_files_are_recognised_by_what_they_compute(pool: Any, seed_files: dict[str, Path]) -> None:
    assert recognised(seed_files["baseline"].read_text(), pool, PAPER.seeds()) == BASELINE
    assert recognised(seed_files["design_340"].read_text(), pool, PAPER.seeds()) == design_340()
    assert recognised(compose(genome({"alpha": 5.5})), pool, PAPER.seeds()) is None
    assert recognised("no design", pool, PAPER.seeds()) is None


def test_every_kind_of_term_traces_and_changes_the_dynamics(pool: Any) -> None:
    base = {name: {} for name in ("push_up", "weak_band", "xl_gate", "tail_gate", "amp_norm")}
    plain = states_after(traced(genome({}, base), pool))
    without_effect = []
    for name in kinds():
        if name in base:
            continue
        changed = states_after(traced(genome({}, base | {name: {}}), pool))
        if same_states(plain, {variable: changed[variable] for variable in plain}):
            without_effect.append(name)
    assert without_effect == []


def test_all_terms_together_trace(pool: Any) -> None:
    result = traced(EVERYTHING, pool, "float32")
    assert [item.name for item in result.variables] == ["v", "xl", "xs", "v_bias", "v_drift", "xl_flow"]
    assert dict(result.hyper_values) == pytest.approx(EVERYTHING.values())


def test_a_line_of_random_children_all_trace_to_different_graphs(pool: Any) -> None:
    random = np.random.default_rng(11)
    parents = [
        parent_of_genome("b", "baseline", BASELINE),
        parent_of_genome("d340", "design 340", design_340()),
    ]
    taken: set[str] = set()
    graphs = []
    for number in range(12):
        first, second = random.choice(len(parents), 2)
        child = propose([parents[first], parents[second]], taken, random)
        assert child is not None and child.genome is not None
        taken.add(child.key())
        graphs.append(traced(child.genome, pool, "float32").graph_sha)
        parents.append(parent_of_genome(str(number), child.title, child.genome))
    assert len(set(graphs)) == len(graphs)


def test_title_and_rationale_are_not_part_of_what_a_design_is(pool: Any) -> None:
    first = trace(compose(BASELINE, "one", "x"), pool=pool)
    second = trace(compose(BASELINE, 'two """ \\ ', "y"), pool=pool)
    assert isinstance(first, TracedDesign) and isinstance(second, TracedDesign)
    assert first.graph_sha == second.graph_sha
