"""`evolake programs new` and `check`, evaluators of every kind in the jail, and the C example."""

import json
from pathlib import Path

import commands
import pytest
from programs_fixtures import OWN, PROGRAM, apart, cheater, imports, judged, made

from evolake.errors import InputError
from evolake.lake import BlobStore
from evolake.programs.model.project import load_project
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.search.numbers import numbers_in, with_numbers

EXAMPLES = Path(__file__).parents[3] / "examples" / "programs"
STAGED = """from openevolve.evaluation_result import EvaluationResult

def evaluate_stage1(path):
    return {"combined_score": 0.4}

def evaluate_stage2(path):
    return EvaluationResult(metrics={"combined_score": 0.9, "more": True}, artifacts={"note": "second"})

def evaluate(path):
    raise RuntimeError("the stages come first")
"""


def test_a_new_project_is_checked_and_one_that_is_blocked_says_why(tmp_path):
    assert commands.evolake("programs", "new", "mine", "--in", tmp_path).returncode == 0
    done = commands.evolake("programs", "check", tmp_path / "mine", "--runs", "2", "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["verdict"], summary["deterministic"], summary["protected"]) == (
        0,
        "usable",
        True,
        True,
    )
    assert (
        len(summary["scores"]) == 2
        and summary["scores"][0] == summary["scores"][1] == summary["metrics"]["combined_score"]
    )
    assert (
        "protected: evaluator and program"
        in commands.evolake("programs", "check", tmp_path / "mine", "--runs", "2").stdout
    )
    (tmp_path / "mine" / "initial_program.py").write_text("def curve(x):\n    return {}['x']\n")
    done = commands.evolake("programs", "check", tmp_path / "mine")
    assert done.returncode == 1 and "run: its evaluation ended as error" in done.stdout
    (tmp_path / "mine" / "evaluator.py").write_text("def cases(seed):\n    return [1]\n")
    (tmp_path / "mine" / "initial_program.py").write_text("def curve(x):\n    return x\n")
    done = commands.evolake("programs", "check", tmp_path / "mine")
    assert (
        done.returncode == 1
        and "run: its evaluation ended as raised" in done.stdout
        and "score" in done.stdout
    )
    assert commands.evolake("programs", "new", "mine", "--in", tmp_path).returncode == 2


def test_an_open_problem_is_written_whole_and_checked(tmp_path):
    assert "golomb_ruler_29  A ruler" in commands.evolake("programs", "new", "--list").stdout
    assert commands.evolake("programs", "new", "--from", "golomb-ruler-29", "--in", tmp_path).returncode == 0
    assert (
        commands.evolake("programs", "new", "mine", "--from", "tammes_15", "--in", tmp_path).returncode == 0
    )
    files = {path.name for path in (tmp_path / "golomb_ruler_29").iterdir()}
    assert files == {"initial_program.py", "evaluator.py", "project.toml", "sequences.py", "exact.py"}
    done = commands.evolake("programs", "check", tmp_path / "golomb_ruler_29", "--runs", "2", "--json")
    summary = json.loads(done.stdout)
    assert (summary["verdict"], summary["protected"], summary["scores"]) == ("usable", True, [1625.0] * 2)
    assert load_project(tmp_path / "mine").given.construction.best == 0.592606
    for words in (("--from", "golom"), ()):
        done = commands.evolake("programs", "new", *words, "--in", tmp_path)
        assert done.returncode == 2 and ("no problem 'golom'" if words else "needs a name") in done.stderr


@pytest.mark.parametrize("marked", [False, True])
def test_a_function_and_what_scores_it_become_a_protected_project(tmp_path, marked):
    body = "@cache\ndef guess(x):\n    return 0.9 * x"
    block = f"# EVOLVE-BLOCK-START\n{body}\n# EVOLVE-BLOCK-END\n"
    head = "from functools import cache\n\nraise_here = 1\n\n"
    (tmp_path / "model.py").write_text(head + (block if marked else body))
    (tmp_path / "judge.py").write_text(
        "def error(f):\n    return {'combined_score': abs(f(2.0) - 1), 'at': f(1)}\n"
    )
    words = ("--from-function", "model:guess", "--score", "judge.py:error", "--minimize")
    assert commands.evolake("programs", "new", "./mine", *words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "mine" / "initial_program.py").read_text() == head + block
    done = commands.evolake("programs", "check", tmp_path / "mine", "--runs", "2", "--json")
    summary = json.loads(done.stdout)
    assert (summary["verdict"], summary["protected"], summary["scores"]) == ("usable", True, [0.8, 0.8])
    assert load_project(tmp_path / "mine").given.metrics == {"combined_score": "min"}
    (tmp_path / "model.py").write_text("import math\n\x0c\n" + (block if marked else body))
    assert commands.evolake("programs", "new", "./paged", *words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "paged" / "initial_program.py").read_text() == "import math\n\x0c\n" + block
    (tmp_path / "judge.py").write_text("def error():\n    return 1\n")
    done = commands.evolake("programs", "new", "./other", *words, cwd=tmp_path)
    assert done.returncode == 2 and "takes no argument" in done.stderr


def test_a_project_is_created_and_checked_by_its_name_or_by_its_folder(tmp_path, monkeypatch):
    lake = tmp_path / "lake"
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake))
    monkeypatch.chdir(tmp_path)
    for typed, folder, named in (
        ("curve", lake / "seeds" / "programs" / "curve", "curve"),
        ("some/where", tmp_path / "some" / "where", "some/where"),
        ("./here", tmp_path / "here", "here"),
        (str(tmp_path / "full"), tmp_path / "full", "full"),
    ):
        made = commands.evolake("programs", "new", typed)
        assert (made.returncode, (folder / "evaluator.py").is_file()) == (0, True), made.stderr
        assert f"next: evolake programs check {named}\n" in made.stdout
        done = commands.evolake("programs", "check", named, "--runs", "2", "--json")
        summary = json.loads(done.stdout)
        assert (done.returncode, summary["project"], Path(summary["folder"]).resolve()) == (
            0,
            folder.name,
            folder,
        )
    (tmp_path / "curve").mkdir()  # no project: the name is meant
    assert commands.evolake("programs", "check", "curve", "--runs", "2").returncode == 0
    refused = commands.evolake("programs", "check", "nowhere")
    assert refused.returncode == 2 and "the name of a project among the seeds" in refused.stderr
    assert commands.evolake("programs", "new", "./Here").returncode == 2


@pytest.mark.parametrize(
    ("thresholds", "metrics", "stage"),
    [("[0.5]", {"combined_score": 0.4}, 1), ("[0.3]", {"combined_score": 0.9, "more": 1.0}, 2)],
)
def test_a_cascade_goes_on_from_its_thresholds(thresholds, metrics, stage):
    project = imports(STAGED, config__yaml=f"evaluator:\n  cascade_thresholds: {thresholds}\n")
    with Evaluator(project, OWN) as evaluator:
        result = evaluator.evaluate(project.evolving, 1)
    assert (result.metrics, result.stage, result.stages, result.artifacts.get("note")) == (
        metrics,
        stage,
        2,
        "second" if stage == 2 else None,
    )


BLOCKED = {
    "endless": ("while True: pass\n", "run", "cpu"),
    "greedy": ("held = bytearray(4 << 30)\n", "run", ""),
    "raising": ("1 / 0\n", "run", "ZeroDivisionError"),
    "not finite": ("def answer(x):\n    return float('nan')\n", "result", "is no finite number"),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_what_does_not_end_well_is_blocked_with_the_reason(name, tmp_path):
    body, gate, said = BLOCKED[name]
    (blocked, reason), _ = judged(
        imports(config__yaml="evaluator:\n  timeout: 2\n"), BlobStore(tmp_path), cheater(body)
    )
    assert (blocked, said in reason) == (gate, True), reason


def test_a_change_outside_of_the_blocks_is_blocked_before_anything_runs(tmp_path):
    (blocked, reason), candidate = judged(
        imports(), BlobStore(tmp_path), PROGRAM.replace("range(5)", "range(6)")
    )
    assert (blocked, "after the last block" in reason, bool(candidate.evaluations)) == ("form", True, False)


def test_an_evaluation_under_one_seed_is_the_same_and_another_seed_is_another():
    chance = (
        "import random\ndef cases(seed):\n    return [random.random()]\ndef score(cases, results):\n    "
        "return {'combined_score': cases[0]}\n"
    )
    with Evaluator(apart(evaluator=chance), OWN) as evaluator:
        scores = [
            evaluator.evaluate(evaluator.project.evolving, seed).metrics["combined_score"]
            for seed in (5, 5, 6)
        ]
    assert scores[0] == scores[1] != scores[2]


def test_an_output_that_the_evaluator_cannot_take_is_the_program_s_block_and_stops_nothing(tmp_path):
    strict = (
        "def cases(seed):\n    return [1]\ndef score(cases, results):\n    return {'combined_score': 2 * "
        "results[0]['output']['x']}\n"
    )
    (blocked, reason), _ = judged(apart(evaluator=strict), BlobStore(tmp_path))
    assert (blocked, "ended as raised" in reason, "TypeError" in reason) == ("run", True, True), reason
    endless = "def cases(seed):\n    return [1]\ndef score(cases, results):\n    import os\n    os._exit(3)\n"
    (blocked, reason), _ = judged(apart(evaluator=endless), BlobStore(tmp_path))
    assert (blocked, "without a result" in reason) == ("run", True), reason


def test_an_evaluator_that_fails_by_itself_is_an_error_and_no_block(tmp_path):
    project = apart(evaluator="def cases(seed):\n    return []\ndef score(cases, results):\n    return {}\n")
    with pytest.raises(InputError, match=r"cases\(seed\) fails"):
        judged(project, BlobStore(tmp_path))


def test_a_python_program_by_its_command_reads_its_case_and_prints():
    program = "import json, sys\nprint(2 * json.load(sys.stdin) + 1)\n"
    scoring = (
        "def cases(seed):\n    return [1, 2]\ndef score(cases, results):\n    return {'sum': "
        "sum(int(one['output']) for one in results)}\n"
    )
    project = made(
        {
            "initial_program.py": program,
            "evaluator.py": scoring,
            "project.toml": '[evaluator]\nmode = "separate"\n',
        }
    )
    with Evaluator(project, OWN) as evaluator:
        assert evaluator.evaluate(project.evolving, 1).metrics == {"sum": 8.0}


def test_the_kernel_in_c_is_built_run_and_a_wrong_one_scores_nothing(requires):
    requires("cc")
    project = load_project(EXAMPLES / "matrix_kernel")
    kernel = project.evolving["kernel.c"]
    with Evaluator(project, OWN) as evaluator:
        right = evaluator.evaluate(project.evolving, 1)
        wrong = evaluator.evaluate({"kernel.c": kernel.replace("c[i * n + j] +=", "c[i * n + j] -=")}, 1)
        broken = evaluator.build({"kernel.c": kernel.replace("int main", "int main main")})
    assert right.ok and right.metrics["gigaflops"] > 0
    assert wrong.metrics["gigaflops"] == 0
    assert not broken.ok and "the build failed" in broken.reason
    assert len(numbers_in(project.evolving)) == 4


def test_the_other_examples_are_projects_whose_initial_programs_score():
    for name, low, high in (("circle_packing", 1.5, 2.2), ("function_minimization", 0.1, 0.6)):
        project = load_project(EXAMPLES / name)
        with Evaluator(project, OWN) as evaluator:
            score = evaluator.evaluate(project.evolving, 1).metrics["combined_score"]
            numbers = numbers_in(project.evolving)
            moved = evaluator.evaluate(
                with_numbers(project.evolving, [(numbers[-1], numbers[-1].value)]), 1
            ).metrics["combined_score"]
        assert low < score < high and moved == score
