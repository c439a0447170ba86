"""Audits: each planted unsound evaluator is found, sound ones give no finding, measurements and gains are
judged."""

from __future__ import annotations

import html
import json
import shlex
import time
from dataclasses import replace

import commands
import pytest
from audit_fixtures import EVALUATORS, LOAD, files_of, openevolve_run, planted
from programs_fixtures import OWN, calls

from evolake.errors import InputError
from evolake.file_names import shell_word
from evolake.gates import load_rules
from evolake.programs.audit.gains import Gain, record_of, stated_scores
from evolake.programs.audit.measuring import Part, measurement, seeds_needed
from evolake.programs.audit.page import page_of
from evolake.programs.audit.runs import Candidate, Run
from evolake.programs.audit.soundness import Budget, Referee, sound
from evolake.programs.audit.verdict import HEADS, IMPORTED_TOO, Audit, Entry, Finding
from evolake.programs.model.project import Project
from evolake.project import BROUGHT

SEEDS = [11, 12, 13]
LONG = 60.0


def attacked(project: Project, only: str = "", best: str | None = None) -> list[str]:
    """Names of the findings about an evaluator. best: text of the best program that is claimed."""
    claimed = None if best is None else {project.main: best}
    with Referee(project, OWN, SEEDS, best=claimed, workers=2) as referee:
        found = sound(referee, Budget(LONG), "evolake audit X", only)
    assert found.tried == found.made
    return [finding.name for finding in found.findings]


@pytest.mark.parametrize("name", EVALUATORS["unsound"])
def test_an_unsound_evaluator_is_found_by_its_class(name):
    entry = EVALUATORS["unsound"][name]
    found = attacked(planted("unsound", name), entry["kind"], entry.get("best"))
    assert [finding.partition(":")[0] for finding in found] == [entry["kind"]]


def test_a_constant_that_beats_the_initial_program_alone_is_a_note():
    with Referee(planted("unsound", "constants"), OWN, SEEDS) as referee:
        found = sound(referee, Budget(LONG), "evolake audit X", "constants")
    assert found.findings == () and "a program that returns zeros" in found.notes[0]


def test_a_huge_number_that_counts_as_the_nearest_valid_one_is_no_forgery():
    evaluator = (
        "def evaluate(path):\n    return {'combined_score': sum(min(x, 1) for x in load(path).run())}\n"
    )
    project = calls(
        LOAD + evaluator, "def run():\n    return [0, 0]\n", project__toml='[evaluator]\nmode = "calls"\n'
    )
    assert attacked(project, "huge numbers") == []


@pytest.mark.parametrize("name", EVALUATORS["sound"])
def test_a_sound_evaluator_gives_no_finding(name):
    assert attacked(planted("sound", name)) == []


FASTER = """
import time
def evaluate(path):
    return {"combined_score": load(path).run() + time.time() - 1.8e9}
"""


def test_a_score_that_grows_with_the_hour_is_forged_by_nothing_that_is_merely_later():
    toml = '[evaluator]\nmode = "imports"\n'
    project = calls(LOAD + FASTER, "def run():\n    return 1.0\n", project__toml=toml)
    with Referee(project, OWN, SEEDS) as referee:
        later = "def run():\n    return 1.0 + 0\n"
        time.sleep(4 * referee.initial.spread)
        assert all(referee.difference(later, seed)[1] > 0 for seed in SEEDS), (
            "it is later than three times the spread"
        )
        assert referee.forged(later) is None
        assert referee.forged("def run():\n    return 1e6\n") is not None


def test_a_finding_has_the_smallest_program_and_it_forges_the_score_again():
    project = planted("unsound", "endings")
    with Referee(project, OWN, SEEDS) as referee:
        (finding,) = sound(referee, Budget(LONG), "evolake audit X", "endings").findings
        assert referee.forged(finding.program) == 0.5
    assert (finding.program, finding.command) == ("pass", "evolake audit X --attack nothing")
    with (
        Referee(project, OWN, SEEDS) as referee,
        pytest.raises(InputError, match="there is no attack 'nosuch'"),
    ):
        sound(referee, Budget(LONG), "evolake audit X", "nosuch")


def test_an_initial_program_without_a_score_cannot_be_audited():
    project = calls(
        LOAD + "def evaluate(path):\n    return {'error': 'no data'}\n", "def run():\n    return 1\n"
    )
    with pytest.raises(InputError, match="the initial program has no score"):
        Referee(project, OWN, SEEDS)


MEASURED = {
    "clock": "import time\ndef evaluate(path):\n    return {'combined_score': time.perf_counter() % 1}\n",
    "": "def evaluate(path):\n    return {'combined_score': load(path).run()}\n",
    "saturated": "def evaluate(path):\n    return {'combined_score': load(path).run()}\n",
}


@pytest.mark.parametrize("name", MEASURED)
def test_what_is_no_measurement_is_named(name):
    best = "[construction]\nbest = 1.0\n" if name == "saturated" else ""
    toml = f'[evaluator]\nmode = "imports"\n{best}'
    project = calls(LOAD + MEASURED[name], "def run():\n    return 1.0\n", project__toml=toml)
    part = measurement(project, OWN, [1, 2, 3, 4], Budget(LONG), "evolake audit X", None)
    assert [finding.name for finding in part.findings if finding.name != "load"] == ([name] if name else [])
    assert part.figures["deterministic"] == ("no" if name == "clock" else "yes")


NOISY = """
import random
def evaluate(path):
    return {"combined_score": load(path).run() + random.gauss(0, 1)}
"""


def gained(
    best: str, recorded: float | None = None, evaluator: str = NOISY, initial: str = "0.0"
) -> tuple[Gain, Part]:
    toml = '[evaluator]\nmode = "imports"\n'
    program = f"def run():\n    return {initial}\n"
    project = calls(LOAD + evaluator, program, project__toml=toml)
    gain = Gain(project, OWN, list(range(100, 112)), Budget(LONG), "evolake audit X", None)
    return gain, gain.compared({project.main: best}, recorded)


def test_a_gain_is_shown_by_the_contest_and_one_of_chance_is_not():
    _, real = gained("def run():\n    return 9.0\n", 9.0)
    _, none = gained("def run():\n    return 0.0 + 0.0\n", 30.0)
    assert [finding.name for finding in real.findings] == []
    assert [finding.name for finding in none.findings] == ["not shown", "not reproduced"]
    assert real.figures["fresh seeds"] == "12"


KNOWN_BEST = '[evaluator]\nmode = "imports"\n[construction]\nbest = 10.0\n'


@pytest.mark.parametrize(
    ("best", "stated", "note"),
    [
        (9.5, (9.5, 1.0), ""),
        (
            11.5,
            (None, None),
            "the best program has 11.5, better by 1.5 (15.00%) than the best known score, 10: a record, or",
        ),
        (
            9.5,
            (9.5, 0.25),
            "states a gain of 9.25 (from 0.25 to 9.5), and here its two programs have 1 and 9.5: its",
        ),
        (9.5, (0.095, None), "states 0.095 for its best program, and here it has 9.5"),
    ],
)
def test_a_gain_that_is_not_plausible_is_a_note_with_numbers(best, stated, note):
    evaluator = LOAD + "def evaluate(path):\n    return {'combined_score': load(path).run()}\n"
    project = calls(evaluator, "def run():\n    return 1.0\n", project__toml=KNOWN_BEST)
    gain = Gain(project, OWN, list(range(100, 112)), Budget(LONG), "evolake audit X", None)
    part = gain.compared({project.main: f"def run():\n    return {best}\n"}, *stated)
    notes = [text for text in part.notes if "best known" in text or "run states" in text]
    assert part.findings == [] and len(notes) == bool(note) and note in "".join(notes)


def run_of(texts: list[str], scores: list[float]) -> Run:
    some = [
        Candidate(f"p{n}", (), text, score, n, metrics={"gap": score / 2})
        for n, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]
    return Run("X", tuple(some), some[-1].program_id)


def test_a_run_that_states_more_than_the_best_known_score_says_so_without_an_evaluation():
    text = "def run():\n    return 1.0\n"
    project = calls(LOAD, text, project__toml=KNOWN_BEST)
    (note,) = record_of(run_of([text, "x = 1\n"], [1.0, 12.0]), project).notes
    assert "the run states that its best program has 12, better by 2 (20.00%) than the best known" in note
    assert record_of(run_of([text, "x = 1\n"], [1.0, 10.0]), project).notes == []


def test_scores_that_a_run_states_are_those_of_the_metric_that_the_project_declares():
    text = "def run():\n    return 1.0\n"
    run = run_of([f"# so it began\n{text}", "x = 1\n"], [1.0, 12.0])
    plain = calls(LOAD, text, project__toml=KNOWN_BEST)
    named = calls(LOAD, text, project__toml=KNOWN_BEST + '[metrics]\ngap = "min"\n')
    other = calls(LOAD, text, project__toml=KNOWN_BEST + '[metrics]\nsize = "min"\n')
    assert [stated_scores(run, one) for one in (plain, named, other)] == [(12, 1), (6, 0.5), (None, None)]


def test_a_dumb_search_that_finds_as_much_is_a_finding():
    evaluator = "def evaluate(path):\n    return {'combined_score': -abs(load(path).run() - 7)}\n"
    best = {"initial_program.py": "def run():\n    return 2.0\n"}
    gain, part = gained(best["initial_program.py"], None, evaluator, "1.0")
    rules = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "programs")
    gain.dumb(part, best, 30, rules, 1)
    assert [finding.name for finding in part.findings] == ["dumb search"]
    assert "with 30 evaluations" in part.figures["hill climbing"]


def test_the_seeds_that_show_a_gain_are_estimated():
    assert seeds_needed([-1.0, 0.5]) is None
    assert seeds_needed([1.0] * 8) == 6
    assert seeds_needed([0.1, 2.1, -1.9, 0.1]) == 2094


def test_where_a_program_is_imported_its_frames_forge_and_where_it_is_called_they_do_not():
    project = planted("sound", "search")
    assert attacked(project, "changes-result") == []
    assert attacked(replace(project, mode="imports"), "changes-result") == ["frames: changes-result"]


def written(folder, entry) -> None:
    folder.mkdir()
    for name, text in files_of(entry).items():
        (folder / name).write_text(text)


def test_the_command_audits_a_run_below_its_project_and_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "search", EVALUATORS["sound"]["search"])
    initial = EVALUATORS["sound"]["search"]["program"]
    best = initial.replace("[0.5, 0.5]", "[3.2, 3.25]")
    openevolve_run(
        tmp_path / "search" / "openevolve_output", [initial, best, initial], [-15.125, -0.0025, -15.125]
    )
    for number in range(201):  # more than a project may have
        (tmp_path / "search" / "openevolve_output" / f"{number}.log").write_text("")
    typed = "audit search/openevolve_output --seconds 12 --json --out verdict.html"
    done = commands.evolake(*typed.split())
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["findings"]) == (0, "no finding", [])
    assert (
        found["figures"]["gain"]
        | {"tool": "OpenEvolve", "candidates": "3", "duplicates": "1", "best program": "-0.0025"}
        == found["figures"]["gain"]
    )
    page = (tmp_path / "verdict.html").read_text()
    assert "Audit of search: no finding" in page and "Is the gain real?" in page and "<script" not in page


def test_the_command_audits_an_evaluator_with_a_program_and_shows_an_attack(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = EVALUATORS["unsound"]["degenerate"]
    (tmp_path / "judge.py").write_text(LOAD + entry["evaluator"])
    (tmp_path / "answer.py").write_text(entry["program"])
    done = commands.evolake(*["audit", "judge.py", "answer.py", "--attack", "empty", "--seconds", "20"])
    out = done.stdout
    assert done.returncode == 1
    assert "1. degenerate answers: empty: a program that returns [] scores combined_score 1;" in out
    assert "again   evolake audit judge.py answer.py --attack empty-2" in out
    assert "def run(*args, **named):\n    return []" in out


def test_each_folder_is_audited_or_said_why_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    top = tmp_path / "all"
    top.mkdir()
    written(top / "forged", EVALUATORS["unsound"]["degenerate"])
    (top / "deep").mkdir()
    written(top / "deep" / "sound", EVALUATORS["sound"]["search"])
    written(top / "lacking", {**EVALUATORS["sound"]["search"], "evaluator": "import nosuch\n"})
    (top / "half").mkdir()
    (top / "half" / "evaluator.py").write_text("")
    typed = "audit all --each --seconds 8 --only evaluator"
    done = commands.evolake(*typed.split(), "--json", "--out", "page.html")
    found = {row["folder"]: row for row in json.loads(done.stdout)["folders"]}
    assert done.returncode == 1
    assert {name: row["verdict"] for name, row in found.items()} == {
        "deep/sound": "no finding",
        "forged": "not sound",
        "half": "not audited",
        "lacking": "not audited",
    }
    assert found["half"]["error"]["what"] == "all/half has no initial program"
    assert "No module named 'nosuch'" in found["lacking"]["error"]["got"]
    assert found["lacking"]["error"]["next"].startswith("add nosuch to requirements.txt, then")
    page = (tmp_path / "page.html").read_text()
    assert "Audits of 4 folders" in page and "Audit of sound: no finding" in page


IMPORTED = {"evaluator": {"attacks": "8 of 8 programs", IMPORTED_TOO: "frames, patches"}}


@pytest.mark.parametrize(
    ("found", "headline"),
    [((), "no finding"), ((Finding("evaluator", "gc: x", "r", "c", "d"),), "not sound, 1 finding")],
)
def test_the_headline_is_the_same_in_the_table_on_the_page_and_of_a_single_audit(found, headline):
    audit = Audit("p", "one", "calls", ("evaluator",), found, IMPORTED, {"evaluator": ()})
    said = f"{headline} (evaluated in mode calls; if imported, forged by frames, patches)"
    row = dict(zip(HEADS, Entry("p", audit, None, 1.0).cells(), strict=True))
    assert (audit.lines()[0], row["verdict"]) == (f"one: {said}", said)
    assert f"<h1>Audit of one: {said}</h1>" in page_of(audit)


@pytest.mark.parametrize("name", ["a b", "it's", "-dash", "$HOME; x"])
def test_commands_that_are_printed_quote_the_path(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / name, EVALUATORS["unsound"]["endings"])
    words = ["--attack", "nothing", "--seconds", "8", "--out", "page.html"]
    done = commands.evolake("audit", *words, "--", name)
    (again,) = [line.split("again", 1)[1] for line in done.stdout.splitlines() if "again   " in line]
    typed = shlex.split(again)
    assert typed == ["evolake", "audit", f"./{name}" if name[0] == "-" else name, "--attack", "nothing"]
    assert f"{shell_word(name)} --attack" in html.unescape((tmp_path / "page.html").read_text())
    assert commands.evolake(*typed[1:], "--seconds", "8").returncode == 1
    (tmp_path / name / "evaluator.py").write_text("import nosuch\n")
    failed = commands.evolake("audit", "--", name)
    assert failed.returncode == 2 and f"evolake programs check {shell_word(name)} --install" in failed.stderr
