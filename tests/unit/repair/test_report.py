"""The report: the same bytes from the same rows, every table in both forms, honest words, and nothing of an
unfinished study."""

import re

import polars as pl
import pytest
from repair_results import K, R, made_up_problems, made_up_results

from evolake.errors import InputError
from evolake.repair.names import ARMS, INFORMED, KNOWN_ARMS, WHOLE_CONFLICT
from evolake.repair.report.artifacts import answers, caution, headline, setting
from evolake.repair.report.material import report_of
from evolake.repair.report.page import render_html, render_latex, tex, write_report
from evolake.repair.report.result_tables import shown_tables
from evolake.repair.running import Stored
from evolake.repair.tables import ATTEMPTS
from evolake.report.figures import figures_in

MAIN = made_up_problems(40)
SCALED = made_up_problems(10, variation="scale")
SUDOKU = made_up_problems(5, suite="sudoku4", base="sud")
PROBLEMS = pl.concat([MAIN, SCALED, SUDOKU])
RESULTS = pl.concat(
    [made_up_results(MAIN), made_up_results(SCALED, stream=1), made_up_results(SUDOKU, stream=2)]
)
STUDY = {
    "study_sha": "5" * 64,
    "arms": sorted(ARMS),
    "seeds": [0, 1, 2],
    "candidates": K,
    "rounds": R,
    "root_seed": 0,
    "backend": "operators",
}
FIGURES = [figure.title for figure in figures_in("evolake.repair.report.figures")]
ALWAYS = ["accuracy", "calls_to_solve", "frontier", "convergence", "robustness", "transfer_sudoku4"]
NAMES = [
    "benchmark",
    "accuracy",
    "costs",
    "comparisons_problem",
    "comparisons_run",
    "frontier",
    "convergence",
    "robustness",
    "transfer",
]


def stored(results: pl.DataFrame = RESULTS, problems: pl.DataFrame = PROBLEMS, **changed) -> Stored:
    return Stored(STUDY | changed, problems, results, ATTEMPTS.empty())


@pytest.fixture(scope="module")
def report():
    return report_of(stored())


def test_the_files_are_all_there_and_the_same_every_time(report, tmp_path):
    first, again = write_report(report, tmp_path / "a"), write_report(report_of(stored()), tmp_path / "b")
    assert [name for name in FIGURES if name in ALWAYS] == ALWAYS
    tables = [
        "summary",
        "comparisons",
        "frontier",
        "convergence",
        "effort",
        "robustness",
        "results",
        "problems",
    ]
    expected = ["report.html", "report.tex", *(f"figures/{name}.png" for name in FIGURES)]
    expected += [f"tables/{name}.{kind}" for name in tables for kind in ("parquet", "csv")]
    assert [str(path.relative_to(tmp_path / "a")) for path in first] == expected
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_csv_and_parquet_hold_the_same_numbers(report, tmp_path):
    write_report(report, tmp_path)
    for name, frame in report.findings.tables().items():
        assert pl.read_parquet(tmp_path / "tables" / f"{name}.parquet").equals(frame)
        plain = frame.select(pl.exclude("dominated_by"))
        assert (
            pl.read_csv(tmp_path / "tables" / f"{name}.csv", schema_overrides=plain.schema)
            .select(plain.columns)
            .equals(plain)
        ), name


def test_page_and_article_hold_every_table_with_the_same_cells(report):
    tables = shown_tables(report)
    assert [table.name for table in tables] == NAMES
    page, article = render_html(report, tables, {}), render_latex(report, tables, ["accuracy"])
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        for cell in {cell for row in table.rows for cell in row}:
            assert cell.replace("<", "&lt;") in page
            assert tex(cell) in article
    assert page.count("<table>") == article.count(r"\begin{tabular}") == len(NAMES)


def test_the_page_reaches_for_nothing_outside(report, tmp_path):
    write_report(report, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    assert page.count('src="data:image/png;base64,') == len(FIGURES)
    assert "<script" not in page


def test_the_article_is_balanced_and_includes_the_figures_that_were_written(report, tmp_path):
    write_report(report, tmp_path)
    article = (tmp_path / "report.tex").read_text()
    opened, closed = re.findall(r"\\begin{(\w+)}", article), re.findall(r"\\end{(\w+)}", article)
    assert sorted(opened) == sorted(closed)
    unescaped = re.sub(r"\\[{}]", "", article)
    assert unescaped.count("{") == unescaped.count("}")
    assert all(
        (tmp_path / path).is_file() for path in re.findall(r"\\includegraphics\[[^]]*\]{([^}]*)}", article)
    )
    assert len(re.findall(r"\\includegraphics", article)) == len(FIGURES)
    assert article.isascii()


def test_eleven_arms_are_told_compared_and_drawn(tmp_path):
    every = pl.concat(
        [
            made_up_results(problems, arms=KNOWN_ARMS, stream=place)
            for place, problems in enumerate((MAIN, SCALED, SUDOKU))
        ]
    )
    report = report_of(stored(every, arms=list(KNOWN_ARMS)))
    assert "for each of the ten compute-matched arms, one for one_shot" in setting(report)
    assert "each of the four compute-matched arms" in setting(report_of(stored()))
    assert f"but for {INFORMED}, where they read all" in caution(report) and INFORMED not in caution(
        report_of(stored())
    )
    said = answers(report)
    assert len(said) == 17 and len(set(said)) == 17
    assert sum("reading" in sentence.lower() for sentence in said) == 4
    tables = {table.name: table for table in shown_tables(report)}
    assert [row[0] for row in tables["accuracy"].rows] == list(KNOWN_ARMS)
    assert (
        len(tables["comparisons_problem"].rows) == 45
        and "Holm's correction over the 45 comparisons" in tables["comparisons_problem"].note
    )
    assert "over the six comparisons" in next(
        table.note for table in shown_tables(report_of(stored())) if table.name == "comparisons_run"
    )
    assert (WHOLE_CONFLICT, "multi_unsat_core_feedback") in {
        row[:2] for row in tables["comparisons_run"].rows
    }
    assert f"A solver call of {WHOLE_CONFLICT} takes more checks" in tables["costs"].note
    names = [str(path.relative_to(tmp_path)) for path in write_report(report, tmp_path)]
    assert {f"figures/{name}.png" for name in ALWAYS} <= set(names)
    assert (
        WHOLE_CONFLICT in (tmp_path / "report.html").read_text()
        and tex(WHOLE_CONFLICT) in (tmp_path / "report.tex").read_text()
    )


def test_an_unfinished_study_is_refused_and_names_the_missing_cells():
    with pytest.raises(InputError, match="missing: one_shot-1") as refused:
        report_of(stored(RESULTS.filter(~((pl.col("arm") == "one_shot") & (pl.col("seed") == 1)))))
    assert refused.value.exit_code == 2


def test_the_report_says_what_is_counted_and_what_an_even_number_of_seeds_does(report):
    seeds = RESULTS["seed"].n_unique()
    said = headline(report)
    assert "of runs (a problem and a seed)" in said and f"more than half of its {seeds} seeds" in said
    assert (f"{seeds // 2} of {seeds} is not solved" in said) == (seeds % 2 == 0)
    even = report_of(stored(RESULTS.filter(pl.col("seed").is_in([0, 1])), seeds=[0, 1]))
    assert "1 of 2 is not solved" in headline(even)
