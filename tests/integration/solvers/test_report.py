"""The report's section of the solvers line, its questions in the cookbook, and one page for all lines: from a
lake with known figures."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import commands
import pytest
from solver_lake import ID, make_lake
from solver_runs import run_row

from evolake.lake import ARTIFACTS, CHAMPIONS, Lake, side_table
from evolake.report.figures import figures_in
from evolake.report.lines import chosen_cycles, read_sections
from evolake.report.pages import sentence
from evolake.solvers.report.material import SolversReport, read_report
from evolake.solvers.report.page import PACKAGE, headline_values, soundness_sentence
from evolake.solvers.tables import STABILITY_RUNS


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("lake")
    make_lake(root)
    return root


@pytest.fixture(scope="module")
def text(root) -> str:
    """The section of cycle 0002 as a reader sees it, a cell per line."""
    markup = read_sections(root, ["solvers"])[0].body
    return html.unescape(re.sub(r"(\s*<[^>]*>\s*)+", "\n", markup))


def evolake(root: Path, *words: str) -> tuple[int, str, str]:
    done = commands.evolake(*words, environment={"EVOLAKE_LAKE": str(root), "PATH": "/usr/bin:/bin"})
    return done.returncode, done.stdout, done.stderr


def flat(text: str) -> str:
    return " ".join(text.split())


def rows_after(text: str, heading: str) -> list[str]:
    return text.partition(f"\n{heading}\n")[2].splitlines()


def test_who_reigns_by_how_much_and_against_whom(text):
    assert (
        f"The new champion is <b>fast</b> ( {ID['fast'][:12]} ), descends from alpha: 2.00 times lower "
        "cost than alpha" in flat(text)
    )
    assert f"alpha ( {ID['alpha'][:12]} ) (95% interval 1.90 to 2.10, noise floor 1.01), " in flat(text)
    assert (
        "(95% interval 1.90 to 2.10, noise floor 1.01), PAR-2 1.15 s against 2.3 s on 8 formulas, 2 pairs "
        "each." in flat(text)
    )


def test_no_answer_was_unsound_and_what_the_gates_caught_is_said_apart(text):
    # accepted: smoke 2 x 4, correctness 2 x 4, train 4 x 4, duels 2 x 16, holdout 2 x 8; half of each UNSAT;
    # the smoke suite's proofs are not checked
    assert (
        "Zero unsound answers of accepted variants in 80 runs. Of their 40 UNSAT answers 36 rest on a "
        "verified proof; 4 were outside the checked share, contradict no known status and count as "
        "unsolved. Variants that a gate blocked gave 2 unsound answers in 2 runs."
    ) in flat(text)


def test_what_the_holdout_shows_is_said_with_its_spread_and_how_it_was_measured(text):
    assert (
        "Holdout, 4 formulas that nothing in the evolution has seen: cost of the seed alpha over the "
        "champion's is 2, noise floor 1.01 from 2 passes; solved 4 against 4: no claim: 4 formulas cannot "
        "decide, 6 may. Their runs were made in the cycles 0001 and 0002, not side by side."
    ) in flat(text)


def test_train_and_holdout_show_champion_and_seeds_with_sat_and_unsat_apart(text):
    train, holdout = rows_after(text, "Suite train"), rows_after(text, "Suite holdout")
    heads = ["measure", f"champion: <b>fast</b> {ID['fast'][:6]}", "its seed: alpha", "seed: beta"]
    assert train[1:5] == heads
    assert holdout[1:4] == heads[:3]
    values = {train[place]: train[place + 1 : place + 4] for place in range(5, 93, 4)}
    assert (values["PAR-2, s"], values["PAR-2 SAT, s"]) == (
        ["1.150", "2.300", "3.450"],
        ["1.250", "2.500", "3.750"],
    )
    assert (values["PAR-2 UNSAT, s"], values["solved, UNSAT"]) == (
        ["1.050", "2.100", "3.150"],
        ["2", "2", "2"],
    )
    assert (values["solved within 12 % of the timeout"], values["wrong answers"]) == (
        ["3", "0", "0"],
        ["0", "0", "0"],
    )


HELPED = (
    "costs less on 2 of 2 formulas and more on 0; on a new formula like these it helps with probability "
    "1.00 (0.34 to 1.00)"
)


def test_each_family_of_a_duel_says_how_likely_the_challenger_helps_on_a_new_formula(root, text):
    for family, costs in (("family s", "PAR-2 2.51 s and 1.26 s"), ("family u", "PAR-2 2.11 s and 1.06 s")):
        assert f"{family}: 2 formulas, solved 2 and 2, {costs}; {HELPED}" in text


def test_an_earlier_cycle_knows_nothing_of_later_ones(root):
    page = read_sections(root, ["solvers"], "0001")[0].body
    assert "fast" not in page
    assert "The champion, since cycle 0001, is <b>alpha</b>" in page
    assert "in this cycle its challenger did not gain more than the noise.</p>" in page
    assert "the champion is an upstream solver itself, so there is nothing to compare it with" in page
    assert "Nothing: it is the upstream solver" in page


def headline(report: SolversReport, duels: list[dict]) -> str:
    later = replace(report, shared=replace(report.shared, cycle="0003"), decisions=duels)
    return sentence(PACKAGE, "headline.html.j2", **headline_values(later))


def test_a_champion_that_reigns_on_is_shown_with_the_duel_that_it_once_won(root):
    now = read_report(root, "0002")
    lost = now.decisions[0] | {
        "champion_id": ID["fast"],
        "challenger_id": ID["tuned"],
        "wins": False,
        "cycle": "0003",
    }
    later = headline(now, [lost])
    assert later.startswith("The champion, since cycle 0002, is <b>&lt;b&gt;fast&lt;/b&gt;</b> ")
    assert (
        "in this cycle its challenger did not gain more than the noise. It became champion with 2.00 "
        "times lower cost than <b>alpha</b>" in later
    )
    assert "in this cycle no variant challenged it." in headline(now, [])
    assert "in this cycle none of 2 challengers gained" in headline(now, [lost, lost])


def test_an_unsound_answer_of_an_accepted_variant_is_shouted(tmp_path):
    lake = make_lake(tmp_path)
    wrong = run_row(ID["fast"], "s-1", "wrong", 1.0, solved=False, cycle="0002")
    refuted = run_row(
        ID["fast"], "u-1", "unsat", 1.0, solved=False, certificate=None, proof_status="refuted", cycle="0002"
    )
    undecided = run_row(
        ID["fast"], "u-2", "unsat", 1.0, solved=False, certificate=None, proof_status="unknown", cycle="0002"
    )
    lake.publish(
        "solvers",
        "stability_runs",
        STABILITY_RUNS.frame([wrong, refuted, undecided]),
        cycle="0002",
        run_id="r2",
        schema=STABILITY_RUNS,
    )
    said = soundness_sentence(read_report(tmp_path, "0002").runs)
    assert said.startswith(
        "UNSOUND: 2 answers of accepted variants in 83 runs. Of their 42 UNSAT answers 36 rest on a "
        "verified proof; 2 could not"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cycle", "7"), "cycle '0007' of solvers is not finished"),
        (("--lines", "solvers,none"), "no line 'none'"),
        (("--lines", ","), "no line is named"),
        (("--cycle", "soon"), "a cycle is a number"),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(root, tmp_path, words, message):
    code, out, err = evolake(root, "report", "--out", str(tmp_path / "r.html"), *words)
    assert (code, message in err + out, (tmp_path / "r.html").exists()) == (2, True, False)


def test_a_lake_without_a_finished_cycle_says_what_to_run(tmp_path):
    code, out, err = evolake(tmp_path, "report", "--out", str(tmp_path / "r.html"))
    assert (code, "evolake run --cycles 1" in err + out) == (2, True)


def ask(root: Path, name: str, *parameters: str) -> list[list]:
    words = [word for pair in parameters for word in ("-p", pair)]
    code, out, err = evolake(root, "sql", "--file", f"cookbook/{name}.sql", *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["rows"]


def test_a_learned_rule_is_a_rule_and_no_champion_rests_on_a_revoked_one(root):
    assert ask(root, "champions_on_revoked_rules") == []


FIGURES = {figure.title.lower().replace(" ", "_") for figure in figures_in("evolake.solvers.report.figures")}


def test_titles_and_reasons_are_text_and_never_markup(root):
    page = read_sections(root, ["solvers"])[0].body
    assert "&lt;b&gt;fast&lt;/b&gt;" in page
    assert "<wrong>" not in page
    assert "(a &lt; b)" in page


def test_two_lines_share_a_page_and_a_line_without_a_section_gets_the_common_one(tmp_path):
    lake = make_lake(tmp_path / "lake")
    other_line(lake)
    code, out, _ = evolake(
        tmp_path / "lake", "report", "--out", str(tmp_path / "r.html"), "--figures", str(tmp_path / "figures")
    )
    page = (tmp_path / "r.html").read_text()
    assert (code, out.splitlines()[0]) == (
        0,
        f"report of other cycle 0001, solvers cycle 0002: {tmp_path / 'r.html'}",
    )
    assert "other: The champion, since cycle 0001, is thing (aaa)." in out
    assert [page.count(part) for part in ("<h1>Cycle", '<section id="other">', '<section id="solvers">')] == [
        2,
        1,
        1,
    ]
    assert {path.stem for path in (tmp_path / "figures").glob("*.png")} == {
        f"solvers_{name}" for name in FIGURES
    }
    assert chosen_cycles(tmp_path / "lake", cycle="0002") == {"solvers": "0002"}
    assert chosen_cycles(tmp_path / "lake", cycle="0001") == {"other": "0001", "solvers": "0001"}
    assert chosen_cycles(tmp_path / "lake", ["other"]) == {"other": "0001"}


def other_line(lake: Lake) -> None:
    """A line that has a champion and nothing else, one cycle done."""
    row = {
        "artifact_id": "aaa",
        "line": "other",
        "kind": "k",
        "cycle": "0001",
        "state": "champion",
        "content_sha": "c",
        "title": "thing",
    }
    crown = {"line": "other", "cycle": "0001", "artifact_id": "aaa", "score": 1.0}
    for schema, content in ((ARTIFACTS, row), (CHAMPIONS, crown)):
        lake.publish(
            "other",
            side_table("survivors", schema),
            schema.frame([content]),
            cycle="0001",
            run_id="r",
            schema=schema,
        )
    lake.seals.seal("other", "0001", "v1", None, "r")
    lake.seals.seal("other", "0002", "v2", "v1", "r")
