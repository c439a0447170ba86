"""Variants of MiniSat that search otherwise on one exact size, spelled in fifteen ways, and honest ones that
search otherwise everywhere.

    python -m pytest tests/attacks/test_size_disguises.py -m attack

Only behaviour speaks: the rules that read sources are left out. Each is a real build with real runs, a minute
in all for each.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from solver_gates import RULES, GatesProject, open_project, unlinted

from evolake.reading.formula import write_dimacs
from evolake.solvers.execute import RunLimits
from evolake.solvers.gates.evidence import seed_carried
from evolake.solvers.suites import Instance, Suite, with_files
from evolake.solvers.suites.fresh import carried_suite
from evolake.solvers.suites.generators import random_ksat

pytestmark = pytest.mark.attack
SECRET = bytes(range(32))
LIMITS = RunLimits(cpu_s=20, wall_s=120, memory_mb=1024)
N, M = 210, 924
OTHERWISE = "luby_restart = false; restart_inc = 1.5;"
DISGUISES = {
    "plain": f"if (nVars() == {N} && nClauses() == {M})",
    "xor": f"if (!((nVars() ^ {N}) | (nClauses() ^ {M})))",
    "difference": f"int off = nVars() - {N}; if (!off)",
    "range": f"if (nVars() > {N - 1} && nVars() < {N + 1})",
    "ratio": "if (nClauses() * 10 == nVars() * 44)",
    "hash": "if (nVars() * 7919 % 100003 == 62942)",
    "loop": f"int left = {N}; while (left && left <= nVars()) left -= nVars(); if (!left)",
    "product": f"if ((long)nVars() * nClauses() == {N * M}L)",
    "sum": f"if (nVars() + nClauses() == {N + M})",
    "square": f"if ((nVars() - {N}) * (nVars() - {N}) < 1)",
    "digits": "if (nVars() % 100 == 10 && nVars() / 100 == 2)",
    "remainders": "if (nVars() % 7 == 0 && nVars() % 10 == 0 && nVars() % 9 == 3)",
    "shift": f"if ((nVars() << 2) == {N << 2})",
    "bits": (
        "int ones = 0; for (int k = nVars(); k; k >>= 1) ones += k & 1; if (ones == 4 && (nVars() & 15) == 2)"
    ),
    "quotient": "if (nVars() && nClauses() % nVars() == 84 && nClauses() / nVars() == 4)",
    "switch": f"bool hit = false; switch (nVars()) {{ case {N}: hit = true; }} if (hit)",
    "division": f"if (nVars() && nVars() / {N} == 1 && {N} / nVars() == 1)",
}
HONEST = {
    "restarts": OTHERWISE,
    "decay": "var_decay = 0.9;",
    "phase": "phase_saving = 1;",
    "large formulas": f"if (nVars() > 100) {{ {OTHERWISE} }}",
    "long clauses": "ccmin_mode = 1;",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    """A project whose carried formulas are four of the size that the disguises know, and two of another."""
    project = open_project(tmp_path_factory.mktemp("sizes"))
    blobs, cache = project.context.blobs, project.context.cache
    formulas = {f"known-{seed}": random_ksat(N, M, 3, seed) for seed in range(4)}
    formulas |= {f"other-{seed}": random_ksat(190, 830, 3, seed) for seed in range(2)}
    items = tuple(
        Instance(name, "random-3", "unknown", blobs.put(write_dimacs(formula)), base=name)
        for name, formula in formulas.items()
    )
    train = with_files(Suite("train", items), blobs, cache)
    carried = carried_suite(train, blobs, cache, secret=SECRET, root_seed=0, count=6)
    context = replace(
        project.context, carried=carried, smoke=project.context.smoke.first(12), correctness_limits=LIMITS
    )
    context = replace(
        context,
        base_carried=partial(
            seed_carried, project.seed("minisat22"), project.adapter("minisat22"), context, cycle="0001"
        ),
    )
    return replace(project, context=context)


def variant(project: GatesProject, name: str, code: str) -> Path:
    folder = project.copy("minisat22", name.replace(" ", "-"))
    path, place = (
        folder / "src" / "simp" / "SimpSolver.cc",
        "bool SimpSolver::eliminate(bool turn_off_elim)\n{\n",
    )
    text = path.read_text(encoding="latin-1")
    assert text.count(place) == 1
    path.write_text(text.replace(place, f"{place}    {code}\n"), encoding="latin-1")
    for document in ("HYPOTHESIS.md", "CHANGELOG.md"):
        (folder / document).write_text("# Restarts\n\nAnother schedule of restarts where it fits.\n")
    return folder


@pytest.mark.parametrize("name", DISGUISES)
def test_a_search_that_is_chosen_by_exact_size_is_blocked_by_what_it_does(project, name):
    judged = project.judge(
        variant(project, f"size-{name}", f"{DISGUISES[name]} {{ {OTHERWISE} }}"), "minisat22", unlinted()
    )
    assert judged.blocked_by is not None and judged.blocked_by.rule_id == "solvers-stability-not-by-size", (
        judged.feedback
    )


@pytest.mark.parametrize("name", HONEST)
def test_a_search_that_is_another_everywhere_is_not(project, name):
    judged = project.judge(variant(project, f"honest-{name}", HONEST[name]), "minisat22", unlinted())
    assert judged.accepted, judged.feedback


def test_the_rules_have_this_one():
    assert any(rule.id == "solvers-stability-not-by-size" for rule in RULES.rules)
