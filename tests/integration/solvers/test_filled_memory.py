"""Real variants of MiniSat at the stability gate: chance out of memory that was never written, and lemmas
that are written again and again."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from solver_gates import RULES, GatesProject, open_project

from evolake.solvers.gates.collecting import Subject, stability
from evolake.solvers.gates.evidence import seed_stability
from evolake.solvers.gates.judging import gate_verdicts
from evolake.solvers.gates.runs import FLAG, filling_adapter
from evolake.solvers.repository.build import build_variant

pytestmark = pytest.mark.long
SOLVER, SOLVE = "core/Solver.cc", "    solves++;"
OTHERWISE = "{ luby_restart = false; restart_inc = 1.5; }"
HEAP = f"    int* unwritten = (int*) malloc(3000); if (unwritten[700] & 1) {OTHERWISE} free(unwritten);"
STACK = f"    if (chance() & 2) {OTHERWISE}"
CHANCE = (
    "static __attribute__((noinline)) int chance() { int unwritten[900]; int* volatile place = unwritten; "
    "return place[450]; }\n"
)
MAKEFILE, MAKEFILE_ANCHOR = "simp/Makefile", "DEPDIR    = mtl utils core"
LEARNT = "analyze(confl, learnt_clause, backtrack_level);"
REPEATED = (
    "            if (proof) for (int k = 0; k < 24; k++) { for (int i = 0; i < learnt_clause.size(); i++) "
    'fprintf(proof, "%s%d ", sign(learnt_clause[i]) ? "-" : "", var(learnt_clause[i]) + 1); '
    'fprintf(proof, "0\\n"); }'
)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    """A project that knows the seed's own runs; half of the growing formulas are enough."""
    project = open_project(tmp_path_factory.mktemp("filled"))
    suite = project.context.stability
    context = replace(
        project.context, stability=replace(suite, instances=suite.instances[1:4]), filling_build=True
    )
    kept = partial(
        seed_stability, project.seed("minisat22"), project.adapter("minisat22"), context, cycle="0001"
    )
    return replace(project, context=replace(context, base_stability=kept))


def blocked_by(
    project: GatesProject, name: str, *changes: tuple[str, str], source: str = SOLVER
) -> tuple[str, str]:
    """Return rule and reason of the stability gate's block of MiniSat with these changes, ("", "") if it
    passes."""
    folder = project.copy("minisat22", name)
    [path] = (folder / "src").rglob(source)
    text = path.read_text(encoding="latin-1")
    for anchor, code in changes:
        assert text.count(anchor) == 1
        text = text.replace(anchor, code)
    path.write_text(text, encoding="latin-1")
    adapter, context = project.adapter("minisat22"), project.context
    subject = Subject(
        name, "0001", lambda: folder, project.seed("minisat22"), "minisat22", adapter, (), lambda: context
    )
    subject.built = build_variant(folder, adapter, context.blobs)
    assert subject.built.ok, subject.built.reason
    evidence: dict[str, Any] = stability(subject)
    verdicts = gate_verdicts("stability", evidence, RULES, variant_id=name, cycle="0001", run_id="test")
    block = next((item for item in verdicts if item.outcome == "block"), None)
    return (block.rule_id, block.reason) if block else ("", "")


def included(code: str) -> tuple[str, str]:
    return "#include <math.h>", f"#include <math.h>\n#include <stdlib.h>\n{code}"


def test_chance_from_allocated_memory_is_blocked_without_a_further_build(project):
    heap_only = replace(project, context=replace(project.context, filling_build=False))
    rule, reason = blocked_by(heap_only, "heap", included(""), (SOLVE, f"{SOLVE}\n{HEAP}"))
    assert (
        rule == "solvers-stability-initialised-memory"
        and "depends on memory that it has not written" in reason
    )


def test_chance_from_local_variables_is_blocked_by_the_filling_build(project):
    rule, reason = blocked_by(project, "stack", included(CHANCE), (SOLVE, f"{SOLVE}\n{STACK}"))
    assert (
        rule == "solvers-stability-initialised-memory"
        and "depends on memory that it has not written" in reason
    )


def test_lemmas_that_are_written_again_and_again_are_blocked(project):
    heap_only = replace(project, context=replace(project.context, filling_build=False))
    rule, reason = blocked_by(heap_only, "repeated", (LEARNT, f"{LEARNT}\n{REPEATED}"))
    assert rule == "solvers-stability-proof-growth" and "bytes of proof for each conflict" in reason


def test_an_honest_variant_with_longer_lemmas_and_memory_of_its_own_passes(project):
    honest = (
        "    int* cleared = (int*) calloc(700, sizeof(int)); if (cleared[600] & 1) "
        + OTHERWISE
        + " free(cleared); ccmin_mode = 0;"
    )
    assert blocked_by(project, "honest", included(""), (SOLVE, f"{SOLVE}\n{honest}")) == ("", "")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "ifneq (,$(findstring trivial,$(CFLAGS)))\n$(error no)\nendif",
            "with local variables filled it cannot be built, as its seed can: compile error:",
        ),
        (
            "CFLAGS := $(filter-out -ftrivial%,$(CFLAGS))",
            "its build does not pass -ftrivial-auto-var-init=pattern on",
        ),
    ],
    ids=["fails", "drops it"],
)
def test_a_build_that_escapes_the_filling_is_blocked(project, line, reason):
    rule, said = blocked_by(
        project, f"escape-{len(line)}", (MAKEFILE_ANCHOR, f"{MAKEFILE_ANCHOR}\n{line}"), source=MAKEFILE
    )
    assert rule == "solvers-stability-initialised-memory" and reason in said


def test_an_adapter_without_compiler_flags_has_no_filling_build(project):
    adapter = project.adapter("minisat22")
    filling = filling_adapter(adapter)
    assert filling is not None and filling.environment["CFLAGS"] == f"{adapter.environment['CFLAGS']} {FLAG}"
    assert filling_adapter(replace(adapter, environment={"LFLAGS": "-s"})) is None


def test_what_is_kept_of_a_seed_is_not_measured_again(project, tmp_path):
    context = replace(project.context, cache=tmp_path)
    first = seed_stability(project.seed("minisat22"), project.adapter("minisat22"), context, cycle="0001")
    assert {row["family"] for row in first} == {"growing", "filled"} and len(first) == 3 * 4
    [path] = (tmp_path / "seed-stability").iterdir()
    path.write_text("[]")
    assert (
        seed_stability(project.seed("minisat22"), project.adapter("minisat22"), context, cycle="0001") == []
    )
