"""An evaluator that says by words that an evaluation failed has given no score, whatever number stands beside
them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from programs_fixtures import OWN, PROGRAM, apart, imports, judged

from evolake.lake import BlobStore
from evolake.programs.commands.group import check
from evolake.programs.evolution.checking import check_project
from evolake.programs.sandbox.environment import requirements_of
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, score_of
from evolake.programs.sandbox.remedies import remedy, trouble_of
from evolake.settings import load

RETURNING = """
class Said:
    def __init__(self, metrics, artifacts):
        self.metrics, self.artifacts = metrics, artifacts


def evaluate(program_path):
    return {value}
"""


def evaluation(value: str, **files: str):
    project = imports(RETURNING.replace("{value}", value), **files)
    with Evaluator(project, OWN) as evaluator:
        return project, evaluator.evaluate(project.evolving, 1)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('{"combined_score": 0.0, "error": "constraint violated"}', "constraint violated"),
        ('{"error": "no lxml", "combined_score": 7.0, "artifacts": {"traceback": "line 3"}}', "no lxml"),
        ('Said({"combined_score": 0.0, "error": "All trials failed"}, {"stderr": "x"})', "All trials failed"),
        ('{"combined_score": 0.0, "error": KeyError("left")}', "KeyError: 'left'"),
        ('{"combined_score": 0.0, "error": True}', "the evaluator returned error = True"),
        ('{"combined_score": 0.0, "error": ["case 2", "case 4"]}', "['case 2', 'case 4']"),
        ('{"combined_score": 0.0, "error": "first line\\nValueError: last"}', "ValueError: last"),
    ],
)
def test_an_error_in_words_is_no_score(value, reason):
    _, result = evaluation(value)
    assert (result.ok, result.status, result.reason, result.metrics) == (False, "reported", reason, {})
    assert result.artifacts["error"]


@pytest.mark.parametrize(
    ("value", "metrics"),
    [
        ('{"combined_score": 1.0, "error": None}', {"combined_score": 1.0}),
        ('{"combined_score": 1.0, "error": ""}', {"combined_score": 1.0}),
        ('{"combined_score": 1.0, "error": False}', {"combined_score": 1.0}),
        ('{"combined_score": 1.0, "error": []}', {"combined_score": 1.0}),
        ('{"combined_score": 1.0, "error": 0.25}', {"combined_score": 1.0, "error": 0.25}),
        ('{"combined_score": 1.0, "error_rate": "low"}', {"combined_score": 1.0}),
    ],
)
def test_a_number_under_error_is_a_metric_and_no_content_is_no_error(value, metrics):
    _, result = evaluation(value)
    assert (result.status, dict(result.metrics)) == ("ok", metrics)


def test_a_stage_that_reports_an_error_is_the_last():
    first = "def evaluate_stage1(path):\n    return {'combined_score': 9.0, 'error': 'no'}\n\n\n"
    project = imports(first + "def evaluate_stage2(path):\n    return {'error': ''}\n")
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate(project.evolving, 1)
    assert (result.status, result.reason) == ("reported", "no")


def test_an_evaluator_of_a_program_that_runs_apart_may_report_too():
    scoring = "def score(cases, results):\n    return {'combined_score': 0.0, 'error': 'too short'}\n"
    project = apart(evaluator="def cases(seed):\n    return [1]\n" + scoring)
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate(project.evolving, 1)
    assert (result.status, result.reason) == ("reported", "too short")


def test_a_candidate_whose_evaluation_failed_by_words_is_blocked_with_them(tmp_path):
    evaluator = RETURNING.replace(
        "{value}",
        "{'combined_score': 5.0, **({'error': 'slow'} if 'range(6)' in open(program_path).read() else {})}",
    )
    project = imports(evaluator)
    assert judged(project, BlobStore(tmp_path))[0] == ("", "")
    marks = PROGRAM.replace("    shift = 1\n", "    shift = 1\n    # range(6)\n")
    assert judged(project, BlobStore(tmp_path), marks)[0] == ("run", "its evaluator reports an error: slow")


def folder_of(tmp_path: Path, evaluator: str) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "initial_program.py").write_text(PROGRAM)
    (folder / "evaluator.py").write_text(evaluator)
    return folder


def test_check_does_not_call_it_usable(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    folder = folder_of(
        tmp_path,
        RETURNING.replace(
            "{value}", "{'combined_score': 0.0, 'error': 'No module named lxml', 'artifacts': {'hint': 'x'}}"
        ),
    )
    said = CliRunner().invoke(check, [str(folder)], standalone_mode=False)
    assert said.return_value == 1 and "usable" not in said.output
    assert (
        "mine: the initial program cannot be used: run: its evaluator reports an error: No module named lxml"
        in said.output
    )
    result = json.loads(CliRunner().invoke(check, [str(folder), "--json"], standalone_mode=False).output)
    assert (result["verdict"], result["reason"], result["scores"]) == (
        "blocked",
        "run: its evaluator reports an error: No module named lxml",
        [],
    )


def test_check_names_an_error_among_the_artifacts_of_a_score(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    value = "Said({'combined_score': 0.5}, {'error_message': '2 of 10 cases\\nfailed', 'note': 'x'})"
    folder = folder_of(tmp_path, RETURNING.replace("{value}", value))
    said = CliRunner().invoke(check, [str(folder)], standalone_mode=False)
    assert said.return_value == 1
    assert said.output.startswith("mine: usable, but your evaluator reports: 2 of 10 cases failed\n")
    assert (
        "reports   error_message: 2 of 10 cases failed" in said.output and "reports   note: x" in said.output
    )


def test_check_shows_what_an_evaluation_that_failed_left_in_words(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    body = "    import sys\n    print('a warning', file=sys.stderr)\n    return {value}"
    given = (
        "{'combined_score': 0.0, 'note': 'see below', 'traceback': 'Traceback (most recent call "
        "last):\\n  line 3\\nKeyError: 4'}"
    )
    folder = folder_of(tmp_path, RETURNING.replace("    return {value}", body).replace("{value}", given))
    said = CliRunner().invoke(check, [str(folder)], standalone_mode=False)
    assert said.return_value == 1
    assert said.output.startswith("mine: usable, but your evaluator reports: KeyError: 4\n")
    assert "  reports   note: see below" in said.output and "  reports   stderr: a warning" in said.output
    (folder / "evaluator.py").write_text(
        RETURNING.replace("    return {value}", body).replace(
            "{value}", "{'error': 'no', 'hint': 'install it'}"
        )
    )
    said = CliRunner().invoke(check, [str(folder)], standalone_mode=False)
    assert said.return_value == 1
    assert said.output.splitlines()[1:] == ["  stderr: a warning", "  error: no", "  hint: install it"]


@pytest.mark.parametrize(
    ("files", "score", "words"),
    [
        ({}, 104.0 / 3, "mean of a, b, time: 34.6667"),
        ({"config__yaml": "database:\n  feature_dimensions: [time]\n"}, 2.0, "mean of a, b: 2 "),
        ({"config__yaml": "database:\n  feature_dimensions: [time, flag]\n"}, 2.0, "mean of a, b: 2 "),
        (
            {"config__yaml": "database:\n  feature_dimensions: [a, b, time]\n"},
            104.0 / 3,
            "mean of a, b, time: 34.6667",
        ),
        ({"project__toml": "[features.time]\nlow = 0\nhigh = 200\n"}, 2.0, "mean of a, b: 2 "),
        ({"project__toml": "[metrics]\nflag = 'max'\n"}, 1.0, "flag 1 "),
    ],
)
def test_without_a_combined_score_the_mean_is_openevolve_s(files, score, words):
    """Neither features nor truth values are part of it, and what it is the mean of is said."""
    project, result = evaluation('{"a": 1.0, "b": 3.0, "time": 100.0, "flag": True}', **files)
    assert score_of(project, result) == pytest.approx(score)
    assert result.metrics["flag"] == 1.0
    lines = check_project(project, OWN, load(), 2).lines()
    assert any(line.startswith(f"  score     {words}") for line in lines), lines


@pytest.mark.parametrize(
    ("value", "files", "reason"),
    [
        ('{"combined_score": 1.0, "side": float("nan")}', {}, ""),
        (
            '{"combined_score": float("inf"), "side": 1.0}',
            {},
            "result: the metric 'combined_score' is no finite number",
        ),
        ('{"a": 1.0, "side": float("nan")}', {}, "result: the metric 'side' is no finite number"),
        (
            '{"combined_score": 1.0, "side": float("nan")}',
            {"config__yaml": "database:\n  feature_dimensions: [side]\n"},
            "result: the metric 'side' is no finite number",
        ),
        (
            '{"combined_score": 1.0, "side": float("nan")}',
            {"project__toml": "[metrics]\ncombined_score = 'max'\nside = 'min'\n"},
            "result: the metric 'side' is no finite number",
        ),
    ],
)
def test_a_metric_without_a_number_matters_if_something_depends_on_it(value, files, reason):
    result = check_project(imports(RETURNING.replace("{value}", value), **files), OWN, load(), 2)
    assert result.to_json()["reason"] == reason
    assert reason or "  left out  no finite number: side" in result.lines()


def test_a_program_that_no_operator_can_change_is_named():
    toml = '[program]\nfiles = ["p.sh"]\nrun = "sh p.sh"\n[evaluator]\nmode = "separate"\n'
    evaluator = (
        "def cases(seed):\n    return ['1']\ndef score(cases, results):\n    return {'combined_score': 1.0}\n"
    )
    from programs_fixtures import made

    lines = check_project(
        made({"p.sh": "echo 1\n", "evaluator.py": evaluator, "project.toml": toml}), OWN, load(), 2
    ).lines()
    assert (
        "  note      no operator can change it: mark its numbers by EVOLVE-PARAM, or let a model write"
        in lines
    )


@pytest.mark.parametrize(
    ("text", "do"),
    [
        ("ModuleNotFoundError: No module named 'nosuch.deep'", "add nosuch to requirements.txt, then"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'nosuch'", "install nosuch and add it to"),
        ("No such file or directory: '/data/x.json'", "put /data/x.json into the project's folder, or its"),
        ("socket.gaierror: Temporary failure in name resolution", "give the project its data as files"),
        ("Warning: could not find the data set", "install what it names in /usr, or show it"),
        ("ValueError: all trials failed", ""),
    ],
)
def test_what_a_user_can_do_about_an_evaluation_that_failed_is_said(text, do):
    project, failed = imports(""), Evaluation("raised", text)
    assert (remedy(project, failed).startswith(do), bool(remedy(project, failed))) == (True, bool(do))
    assert trouble_of(failed) == f"raised: {text}"


def test_a_missing_requirement_is_installed_and_what_was_printed_is_named():
    project = imports("", requirements__txt="evolake-nosuch\n")
    printed = "Warning: the data were not found\n"
    missing = Evaluation("ok", artifacts={"error": "No module named 'evolake_nosuch'", "stderr": printed})
    assert remedy(project, missing, "./it").startswith("evolake programs check ./it --install")
    said = "the evaluator reports: No module named 'evolake_nosuch' (Warning: the data were not found)"
    assert trouble_of(missing) == said


def test_what_an_evaluator_imports_of_shinkaevolve_beyond_its_contract_is_the_package():
    for text, names in (("import shinka.utils\n", ["shinka-evolve"]), ("from shinka.core import x\n", [])):
        assert [item.name for item in requirements_of(imports(text))] == names


def test_a_limit_is_raised():
    project = imports("")
    assert remedy(project, Evaluation("cpu", "over 2 s")).startswith("set a larger limit in [evaluator]")
