"""The graph that is read off a genome is the one that a trace of its file gives, to the last number."""

import ast

import numpy as np
import pytest
from designs_genomes import behind_a_slow_memory, changed, open_search

from evolake.designs.genome import open_graph
from evolake.designs.genome.open_compose import OF_TENSORS, compose
from evolake.designs.genome.open_expression import STATISTICS
from evolake.designs.genome.open_genetic import OPERATORS, parent_of, propose
from evolake.designs.genome.open_genome import OpenGenome, baseline, with_values
from evolake.designs.genome.open_graph import Unread, traced_genome
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.tracing import driver
from evolake.designs.tracing.trace import accept


def traced(genome: OpenGenome) -> TracedDesign | Blocked:
    """Return a trace of the composed file, taken in this process."""
    payload = {"hyper": {}, "dtype": "float32", "size": None}
    reply = driver.trace(compose(genome), payload)
    return accept(reply, {}, "float32", None)


def bred(count: int, seed: int) -> list[OpenGenome]:
    """Return children of children of the baseline, by every operator in turn."""
    random = np.random.default_rng(seed)
    parents, taken = [parent_of("base", "base", baseline())], set[str]()
    while len(parents) <= count:
        chosen = [parents[int(place)] for place in random.integers(len(parents), size=2)]
        child = propose(chosen, taken, random, operator=OPERATORS[len(parents) % len(OPERATORS)])
        if child is not None and child.genome is not None:
            taken.add(child.key())
            parents.append(parent_of(f"c{len(parents)}", "child", child.genome))
    return [parent.genome for parent in parents[1:] if parent.genome is not None]


@pytest.mark.parametrize("seed", range(3))
def test_children_have_the_graph_of_their_file(seed):
    for genome in bred(14, seed):
        assert traced_genome(genome) == traced(genome)


def test_every_name_and_function_of_the_grammar_has_the_graph_of_its_file():
    numbers = [("mul", 1e-3, ("tanh", name)) for name in STATISTICS]
    functions = [
        (name, ("sub", "c", 0.3)) if text.count("{") == 1 else (name, ("sub", "c", 0.3), "xs")
        for name, text in OF_TENSORS.items()
        if name != "power"
    ]
    powers = [("power", "c", exponent) for exponent in (2.0, "ratio", ("add", "gamma", 1.0))]
    reduced = [("lowest", "u"), ("highest", "rival"), ("middle", ("at", "v")), ("overall", "c")]
    tried = [
        changed(xl=("mul", "alpha", ("add", ("sub", "c", "delta"), term)))
        for term in (*numbers, *functions, *powers, *reduced)
    ]
    of_variables = [("around", "c"), ("abs", "drift"), ("min", "pull", 0.2), "v"]
    tried += [changed(v=("add", "pull", ("mul", 0.1, term))) for term in of_variables]
    for genome in (*tried, open_search(), behind_a_slow_memory(0.01, 0.4, 8.0), baseline()):
        assert traced_genome(genome) == traced(genome)


def test_what_cannot_be_traced_is_blocked_all_the_same():
    genome = with_values(baseline(), {"lr": 0.5})
    blocked = traced_genome(genome, lambda graph, outputs, sizes, batched: Blocked("too large", "graph"))
    assert isinstance(blocked, Blocked) and blocked.reason == "too large"


@pytest.mark.parametrize(
    "statement",
    [
        "x = torch.sin(v)",
        "x = v[1:]",
        "x = __import__('os')",
        "x = (lambda: 1)()",
        "for i in v:\n    x = i",
        "import os\nx = os.getcwd()",
        "x = v @ v",
        "x = v if True else v",
        "x, y.z = v, v",
        "x = math.pow(2.0, 3.0)",
        "x = hp.__class__.__name__.join('a')",
    ],
)
def test_a_statement_that_compose_does_not_write_is_refused(statement):
    names = open_graph._Names()
    names.names |= {"v": names.add("input", (open_graph.VARIABLES,), "var:v"), "y": 1, "hp": {"lr": 1.0}}
    with pytest.raises(Unread):
        for part in ast.parse(statement).body:
            names.run(part)
