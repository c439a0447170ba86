"""What planner and coder are told: whole functions, diffs of what was tried, results by family, knowledge,
and what a crashed run wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from solver_runs import run_row

from evolake.agents.prompts import build_messages
from evolake.cycle_seeds import CycleSeeds
from evolake.errors import InputError
from evolake.gates import Verdict, load_rules
from evolake.lake import BlobStore
from evolake.solvers.evolution.planning import (
    Base,
    KnownVariant,
    SearchRecord,
    parent_pool,
    plan_variants,
    standings,
)
from evolake.solvers.evolution.planning_facts import family_results, planner_facts
from evolake.solvers.evolution.population import empty_population
from evolake.solvers.evolution.proposing import excerpt as excerpt_module
from evolake.solvers.evolution.proposing.excerpt import (
    LONGEST_PART,
    MAX_LINES,
    excerpts,
    places_of,
    whole_functions,
)
from evolake.solvers.evolution.variant_making import joined_before
from evolake.solvers.gates.feedback import output_of
from evolake.solvers.repository.unified_diff_parse import whole_hunks
from evolake.solvers.repository.variant import diff_files
from evolake.solvers.roles.models import Excerpt, Region, SourceFile
from evolake.solvers.roles.planner import PLANNER
from evolake.solvers.roles.prompt_tables import first_excerpts, outline_text
from evolake.solvers.roles.rules_to_show import ShownRules, knowledge_texts
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import RUNS

SETTINGS = SolversSettings(par2_hidden_until=33, variants_per_cycle=2)
RULES = load_rules(Path(__file__).parents[3] / "data_lake" / "seeds" / "rules", "solvers")
SEED, CHILD = "1" * 64, "2" * 64


def function(name: str, lines: int) -> str:
    return (
        f"int {name}(int x) {{\n"
        + "".join(f"    x += {number};\n" for number in range(lines))
        + "    return x;\n}\n"
    )


TEXT = (
    "// head\n"
    + function("Solver::analyze", 5)
    + "\n"
    + function("Solver::search", MAX_LINES + 50)
    + "\n"
    + function("tail", 3)
)


def test_regions_grow_to_whole_functions_and_nothing_is_cut_inside_one() -> None:
    shown = excerpts(
        {"src/a.cc": TEXT},
        [
            Region(path="src/a.cc", first_line=4, last_line=14),
            Region(path="src/b.cc", first_line=1, last_line=2),
        ],
    )
    lines = TEXT.splitlines()
    assert "\n".join(item.text for item in shown) == "\n".join(lines[1:-7])
    assert shown[0].text.startswith("int Solver::analyze") and shown[-1].text.endswith("    return x;\n}")
    assert [item.first_line for item in shown[1:]] == [
        item.first_line + len(item.text.splitlines()) for item in shown[:-1]
    ]


def test_a_long_function_follows_on_in_parts_that_no_prompt_cuts_and_what_does_not_fit_is_named() -> None:
    vast = function("huge", 4000)
    files = {"src/a.cc": function("long_one", 900), "src/b.cc": vast}
    shown = excerpts(
        files,
        [
            Region(path="src/a.cc", first_line=1, last_line=1),
            Region(path="src/b.cc", first_line=9, last_line=9),
        ],
    )
    assert all(len(item.text) <= LONGEST_PART for item in shown)
    assert "\n".join(item.text for item in shown[:-1]) + "\n" == files["src/a.cc"]
    assert shown[-1].text == f"(lines 1 to {len(vast.splitlines())} are left out: too much was asked for)"


def test_functions_are_found_by_either_name_and_bounded() -> None:
    result = whole_functions(
        {"src/a.cc": TEXT}, ["analyze", "Solver::analyze", "nowhere", "tail", "search"], 600
    )
    assert [item.text.splitlines()[0] for item in result] == [
        "int Solver::analyze(int x) {",
        "int tail(int x) {",
    ]


def changed(tmp_path: Path) -> tuple[Path, Path, str]:
    """A seed's tree, a child's, and the diff."""
    for name, text in (
        ("old", TEXT),
        ("new", TEXT.replace("x += 2;", "x += 20;", 1).replace("x += 250;", "x += 9;")),
    ):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src/a.cc").write_text(text)
    old, new = tmp_path / "old", tmp_path / "new"
    return old, new, diff_files({"src/a.cc": old / "src/a.cc"}, {"src/a.cc": new / "src/a.cc"})


def test_a_diff_names_its_functions_and_is_cut_between_hunks(tmp_path: Path) -> None:
    _, new, diff = changed(tmp_path)
    assert places_of(diff, new) == ["src/a.cc: Solver::analyze, Solver::search"]
    first = diff.index("@@", diff.index("@@ -") + 4 + diff[diff.index("@@ -") + 4 :].index("@@") + 2)
    assert whole_hunks(diff, len(diff)) == diff
    assert (
        whole_hunks(diff, len(diff) - 1)
        == diff[:first] + f"({len(diff) - first} characters more, whole hunks, are left out)\n"
    )


def runs(suite: str = "train"):
    rows = [
        run_row(
            name,
            f"{family}-{n}",
            "sat" if name == CHILD or n else "timeout",
            1.25,
            suite=suite,
            expected="SAT",
        )
        for name in (SEED, CHILD)
        for family in ("php", "random")
        for n in range(2)
    ]
    return RUNS.frame(rows)


def world(tmp_path: Path):
    """A population of a seed and a child that a diff made, both measured."""
    old, new, diff = changed(tmp_path)
    blobs = BlobStore(tmp_path / "blobs")
    rows = [
        {
            "variant_id": SEED,
            "state": "champion",
            "cycle": "0000",
            "title": "seed",
            "base": "minisat22",
            "operator": "seed",
            "origin": "seed",
            "hypothesis": "",
            "parents": [],
            "edits": "[]",
            "archive_sha": "old",
        },
        {
            "variant_id": CHILD,
            "state": "accepted",
            "cycle": "0001",
            "title": "child",
            "base": "minisat22",
            "operator": "rewrite",
            "origin": "model",
            "hypothesis": "A larger step helps.",
            "parents": [SEED],
            "edits": None,
            "archive_sha": "new",
            "diff_sha": blobs.put(diff.encode()),
        },
    ]
    attempt = {
        "variant_id": CHILD,
        "cycle": "0001",
        "base": "minisat22",
        "changed": [],
        "outcome": "accepted",
        "gain": 0.5,
        "solved_gain": 2.0,
    }
    population = empty_population().with_tables(variants=rows, history=[attempt], runs=runs().to_dicts())
    folders = {"old": old, "new": new}

    class Adapter:
        editable = ("src/*.cc",)
        tunables = "none"
        name = "minisat22"

    known = [
        KnownVariant(SEED, "minisat22", "seed", "seed", old, ()),
        KnownVariant(CHILD, "minisat22", "child", "rewrite", new, None),
    ]
    bases = {"minisat22": Base("minisat22", old, Adapter())}
    ranking = [
        {"variant_id": name, "rank": place, "consensus": 0.1, "ucb": 0.5, "visits": 1.0}
        for place, name in enumerate((CHILD, SEED), 1)
    ]
    return population, known, bases, ranking, blobs, folders.__getitem__


class Heard(Exception):
    pass


class Ears:
    """A backend that keeps the one request."""

    name, threads, heard = "model", 1, None

    def warm(self, job):
        return True

    def close(self):
        pass

    def ask(self, job, record):
        self.heard = job.request
        raise Heard


@pytest.mark.parametrize(("cycle", "shown"), [("0002", False), ("0040", True)])
def test_every_fact_is_in_the_planners_request(tmp_path: Path, cycle: str, shown: bool) -> None:
    from evolake.agents import Agents

    population, known, bases, ranking, blobs, folder_of = world(tmp_path)
    pool = parent_pool(known, bases, ranking=ranking, metrics=[], settings=SETTINGS, cycle=cycle)
    facts = planner_facts(population, pool, RULES, blobs, folder_of, settings=SETTINGS, cycle=cycle)
    ears = Ears()
    with Agents(ears, line="solvers", cycle=cycle) as agents, pytest.raises(Heard):
        plan_variants(
            agents,
            pool,
            SearchRecord(population.attempts(), facts=facts),
            ShownRules(),
            settings=SETTINGS,
            seeds=CycleSeeds(1, "solvers", cycle),
        )
    text = build_messages(PLANNER, ears.heard)[1]["content"]
    assert "+    x += 20;" in text and "-    x += 2;" in text, "the diff of what was tried"
    assert "src/a.cc: Solver::analyze, Solver::search" in text, "where it was tried"
    assert "Solver::analyze:2" in text, "files with their functions"
    code = text.partition("# The code")[2]
    assert "    return x;" in code and code.count("int Solver::analyze(int x) {") == 1, "a whole function"
    assert "Chronological backtracking pays" not in text, "what any textbook says"
    assert f"php (2):\n  {CHILD[:12]}: solved 2, " in text, "results by family"
    assert ("PAR-2 1.25 s" in text) is shown, "PAR-2 by family only from its cycle on"
    assert (
        f"{CHILD[:12]} | {SEED[:12]} | accepted | rank +0.50, solved +2 |  | child / A larger step helps."
        in text
    ), "what was tried"
    assert "characters cut here" not in text


def test_a_run_of_the_holdout_reaches_no_family_result(tmp_path: Path) -> None:
    population, known, _, ranking, _, _ = world(tmp_path)
    lines = standings(known, ranking=ranking, metrics=[], settings=SETTINGS, cycle="0002")
    with pytest.raises(InputError, match="holdout"):
        family_results(
            replace(population, runs=runs("holdout")).runs,
            [line.variant_id for line in lines],
            settings=SETTINGS,
            cycle="0002",
        )


def test_a_family_says_what_share_of_its_proofs_was_checked(tmp_path: Path) -> None:
    _, known, _, ranking, _, _ = world(tmp_path)
    lines = standings(known, ranking=ranking, metrics=[], settings=SETTINGS, cycle="0002")
    unchecked = {"certificate": None, "answer_checked": False, "proof_status": "unchecked", "solved": False}
    rows = [
        run_row(name, f"php-{n}", "unsat", 1.0, **(unchecked if n and name == CHILD else {}))
        for name in (SEED, CHILD)
        for n in range(4)
    ]
    only_sat = [run_row(name, "random-1", "sat", 1.0) for name in (SEED, CHILD)]
    result = family_results(
        RUNS.frame([*rows, *only_sat]), [line.variant_id for line in lines], settings=SETTINGS, cycle="0002"
    )
    assert [(item.family, item.solved, item.checked) for item in result] == [
        ("php", {CHILD[:12]: 1.0, SEED[:12]: 4.0}, {CHILD[:12]: 0.25, SEED[:12]: 1.0}),
        ("random", {CHILD[:12]: 1.0, SEED[:12]: 1.0}, {}),
    ]


def test_knowledge_is_told_whole_and_without_the_holdout() -> None:
    texts = knowledge_texts(RULES)
    assert len(texts) == len(RULES.guidance) == 4
    assert "holdout" not in " ".join(texts).lower() and "held out" not in " ".join(texts)
    assert any(
        text.startswith("solvers-domain-knowledge:") and "Soundness must stay whole" in text for text in texts
    )


def test_all_of_the_papers_table_reaches_planner_and_coder() -> None:
    row = {
        "variant_id": SEED,
        "suite": "train",
        "instances": 9,
        "instances_sat": 5,
        "instances_unsat": 4,
        "solved": 7.0,
        "solved_sat": 4.0,
        "solved_unsat": 3.0,
        "vbs_match": 8,
        "vbs_mismatch": 0,
        "fastest": 2,
        "unproved": 1,
        "checked_share": 0.75,
        "failed": 0,
        "memory_mean_mb": 10.0,
        "memory_max_mb": 99.0,
        "additionally_solved": 3,
        "par2": 1.5,
        "par2_sat": 1.25,
        "par2_unsat": 1.75,
        "wrong": 0,
        **{f"solved_within_{share}": float(share) for share in (6, 12, 20, 40, 60, 90)},
    }
    known = [KnownVariant(SEED, "b", "seed", "seed", Path("x"), ())]
    hidden, summary = (
        standings(known, ranking=[], metrics=[row], settings=SETTINGS, cycle=cycle)[0]
        for cycle in ("0001", "0033")
    )
    shared = set(row) & set(type(summary).model_fields) - {"variant_id"}
    assert len(shared) == 17 and summary.model_dump(include=shared) == {name: row[name] for name in shared}
    assert (summary.best_of_all, summary.vbs_match, summary.memory_max_mb, summary.additionally_solved) == (
        2,
        8,
        99.0,
        3,
    )
    assert summary.solved_within == {f"{share}%": float(share) for share in (6, 12, 20, 40, 60, 90)}
    assert (hidden.par2, hidden.par2_sat, hidden.par2_unsat) == (None, None, None)


def verdict(outcome: str, reason: str = "") -> Verdict:
    return Verdict(
        artifact_id=SEED,
        cycle="0001",
        gate_no=2,
        gate="smoke",
        rule_id="r",
        rule_version=1,
        ruleset_hash="h",
        outcome=outcome,
        reason=reason,
        evidence_sha=None,
        run_id="run",
    )


def test_what_a_crashed_run_wrote_is_told_that_of_the_named_formula_first() -> None:
    complaints = {"a~renamed": "Assertion `x' failed", "b": "std::bad_alloc", "a": "Assertion `x' failed"}
    assert output_of([verdict("pass")], complaints) == ""
    assert (
        output_of([verdict("pass"), verdict("block", "b~renamed: crashed")], complaints)
        == "b:\nstd::bad_alloc\n\na:\nAssertion `x' failed"
    )


def test_only_what_operators_crossed_file_by_file_is_never_joined_again() -> None:
    made = {
        "state": "blocked",
        "cycle": "0001",
        "base": "small",
        "operator": "crossover",
        "origin": "operators",
        "parents": [SEED, CHILD],
    }
    others = ({}, {"edits": "[]"}, {"origin": "model"}, {"operator": "rewrite", "parents": [SEED]})
    rows = [made | more | {"variant_id": str(number) * 64} for number, more in enumerate(others, start=3)]
    assert joined_before(empty_population().with_tables(variants=rows)) == [[SEED, CHILD]]


@pytest.mark.parametrize(
    ("plan", "shown"),
    [
        (
            "In Solver::g change x.",
            ["#include <a>\nstatic int opt_x = 3;\n", "int Solver::g(int a) {\n    return a;\n}"],
        ),
        (
            "Let `g` of core/S.cc do more.",
            ["#include <a>\nstatic int opt_x = 3;\n", "int Solver::g(int a) {\n    return a;\n}"],
        ),
        ("A g that searches more.", []),
        ("Change core/S.cc somewhere.", []),
        ("Solver::g and core/Other.h", []),
    ],
)
def test_a_plan_that_names_functions_decides_what_a_coder_is_shown(
    monkeypatch: pytest.MonkeyPatch, plan: str, shown: list[str]
) -> None:
    """The functions, and the declarations above the first one without the licence; if it names a file too
    long to be shown, the coder is asked."""
    head = "/* licence\n * of\n */\n\n#include <a>\nstatic int opt_x = 3;\n\n"
    text = f"{head}int Solver::f(int a) {{\n    return 1;\n}}\n\nint Solver::g(int a) {{\n    return a;\n}}\n"
    files = {"src/core/S.cc": text, "src/core/Other.h": "int x;\n"}
    monkeypatch.setattr(excerpt_module, "SMALL_SOURCES", 0)
    monkeypatch.setattr(excerpt_module, "LONGEST_NAMED_FILE", 0)
    regions = excerpt_module.regions_without_asking(files, plan)
    assert [item.text for item in excerpts(files, regions, most=len(regions))] == shown


def test_a_revision_is_shown_the_functions_that_its_diff_changes_and_all_of_the_file_if_none_was_shown() -> (
    None
):
    places = (("a.cc", 1, "x\ny"), ("a.cc", 9, "p\nq\nr"), ("b.cc", 1, "z"))
    shown = [Excerpt(path=path, first_line=first, text=text) for path, first, text in places]

    def diff(first: int) -> str:
        return f"--- a/a.cc\n+++ b/a.cc\n@@ -{first},1 +{first},1 @@\n-old\n+new\n"

    assert (
        excerpt_module.changed_excerpts(shown, diff(11)) == shown[1:2]
        and excerpt_module.changed_excerpts(shown, diff(2)) == shown[:1]
    )
    assert excerpt_module.changed_excerpts(shown, diff(50)) == shown[:2]


def test_a_planner_is_shown_whole_functions_within_a_bound_and_small_files_in_one_line() -> None:
    code = [
        Excerpt(path="a.cc", first_line=number, text="x" * length)
        for number, length in ((1, 3), (5, 9), (9, 2))
    ]
    assert [item.first_line for item in first_excerpts(code, 6)] == [1, 9]
    found = {"a.h": ["f:1"], "S.cc": ["S::g:3"], "b.h": []}
    files = [
        SourceFile(path=f"src/{name}", lines=10, functions=functions) for name, functions in found.items()
    ]
    assert outline_text(files) == "  src/S.cc (10 lines) g:3\n  src/: a.h 10, b.h 10"
