"""Verifiers of the user's own, `EVOLAKE_PROMPTS__SCORER`: in the real jail, probed before training, named in
rows, and safe from hostile replies."""

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prompts_fixtures import SIZES, Adder, iterate, operators

from evolake.errors import InputError
from evolake.jail.protocol import Limits
from evolake.prompts.commands import prompts
from evolake.prompts.evolution.population import found_population
from evolake.prompts.model.label_checks import probe_verifiers
from evolake.prompts.model.problem_files import read_side
from evolake.prompts.model.problems import problem_set
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Problem, Sample
from evolake.prompts.model.recipes import ESPL
from evolake.prompts.model.scoring import judge_with, verify
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import PROBLEMS
from evolake.verifiers import own
from evolake.verifiers.external import Verified
from evolake.verifiers.own import (
    OwnVerifier,
    ScoredReply,
    open_own_pool,
    read_verifier,
    score_own,
    verifier_of,
)

CHECKS = """
import fractions
import re

CALLS = []


def score(reply, label, question):
    CALLS.append(reply)
    if "loop" in reply:
        while True:
            pass
    if "forge" in reply:
        return "1"
    numbers = re.findall(r"-?[0-9]+(?:/[0-9]+)?", reply)
    if not numbers or len(CALLS) > 1:
        return 0.0
    given, wanted = fractions.Fraction(numbers[-1]), fractions.Fraction(label)
    return 1.0 if given == wanted else 0.5 if abs(given - wanted) <= 1 else 0
"""


@pytest.fixture
def checks(tmp_path) -> str:
    (tmp_path / "checks.py").write_text(CHECKS)
    return f"{tmp_path / 'checks.py'}:score"


def rows(path: Path, count: int, first: int = 0, **more: Any) -> str:
    path.write_text(
        "".join(
            json.dumps({"question": f"What is {number} + 10?", "answer": str(number + 10)} | more) + "\n"
            for number in range(first, first + count)
        )
    )
    return str(path)


def read(tmp_path: Path, scorer: str | None, /, **more: Any) -> list[Problem]:
    return read_side(rows(tmp_path / "rows.jsonl", 4, **more), "train", gym_problems=1, seed=0, scorer=scorer)


def test_replies_are_scored_whole_each_in_a_process_of_its_own(tmp_path, checks):
    first = read(tmp_path, checks)[0]
    result = verify(
        [
            (first, text, False)
            for text in ("The sum is 20/2.", "I say 11", "none", "forge", "so: \\boxed{10}")
        ],
        "boxed",
    )
    assert result == [Verified(1.0), Verified(0.5), Verified(0.0), Verified(0.0, "protocol"), Verified(1.0)]


def test_a_verifier_that_does_not_end_is_stopped_and_the_next_reply_is_scored(checks):
    verifier = read_verifier(checks)
    with open_own_pool([verifier], 2) as pool:
        endless, right = score_own(
            [ScoredReply(verifier, text, "10", "q") for text in ("loop", "10")],
            pool=pool,
            limits=Limits(cpu_s=1.0, wall_s=4.0),
        )
    assert endless.failure in ("cpu", "timeout") and right == Verified(1.0)


def test_what_it_imports_is_imported_in_the_warm_jail(checks):
    assert read_verifier(checks).imports == ("fractions", "re")
    probe = "import sys\n\ndef score(reply, label, question):\n    return float('fractions' in sys.modules)\n"
    verifier = OwnVerifier("p.py:score", "score", probe)
    with open_own_pool([read_verifier(checks)], 1) as warm, open_own_pool([], 1) as cold:
        asked = [ScoredReply(verifier, "", "", "")]
        assert (score_own(asked, pool=warm), score_own(asked, pool=cold)) == (
            [Verified(1.0)],
            [Verified(0.0)],
        )


def test_an_iteration_is_rewarded_by_it_and_the_rows_say_so(tmp_path, checks):
    problems = read(tmp_path, checks)

    class Scripted(Adder):
        def sample(self, pairs: Any, n: int, seed: int, *, greedy: bool = False) -> list[list[Sample]]:
            return [
                [Sample(text, 3, False) for text in (json.loads(item.answer), "none", "forge")]
                for _, item in pairs
            ]

    with operators() as agents:
        done = iterate(
            found_population({"root": prompt_of(["Think."])}, "0001"),
            Scripted(),
            problems,
            agents=agents,
            judge=judge_with(ESPL, "boxed"),
            arm="rl",
            settings=SIZES.model_copy(
                update={"batch_problems": 1, "prompts_per_iteration": 1, "rollouts": 3}
            ),
        )
    assert done.frames()["rollouts"].select("reward", "correct", "formatted", "unverified").rows() == [
        (1.0, True, False, None),
        (0.0, False, False, None),
        (0.0, False, False, "protocol"),
    ]
    frame = PROBLEMS.frame(
        [
            {name: getattr(problems[0], name) for name in PROBLEMS.columns if name != "cycle"}
            | {"cycle": "0001"}
        ]
    )
    assert (
        frame["scorer"].to_list() == [read_verifier(checks).scorer]
        and "own:checks.py:score@" in frame["scorer"][0]
    )
    assert json.loads(frame["entry"][0])["source"] == CHECKS


def test_exported_rows_bring_their_verifier_along(tmp_path, checks):
    item = read(tmp_path, checks)[0]
    (tmp_path / "checks.py").unlink()
    again = read(tmp_path, None, scorer=item.scorer, entry=item.entry)[0]
    assert (again.scorer, again.entry) == (item.scorer, item.entry) and verify(
        [(again, "10", False)], "boxed"
    ) == [Verified(1.0)]
    with pytest.raises(InputError, match=r"(?s)row 1 of .*does not carry its verifier"):
        read(tmp_path, None, scorer=item.scorer, entry='{"name": "x"}')


def test_probes_pass_before_training_and_are_printed(tmp_path, checks, monkeypatch):
    (probes,) = probe_verifiers(read(tmp_path, checks), "boxed").values()
    assert [probe.score for probe in probes if probe.kind == "a right reply"] == [1.0] * 3
    assert all(probe.score < 1 for probe in probes if probe.kind != "a right reply") and len(probes) == 12
    monkeypatch.setenv("EVOLAKE_PROMPTS__SCORER", checks)
    done = CliRunner().invoke(
        prompts, ["data", "check", rows(tmp_path / "rows.jsonl", 4)], standalone_mode=False
    )
    assert (
        done.exception is None
        and "12 probes passed" in done.output
        and "a very long reply is worth 0" in done.output
    )


GENEROUS = "def score(reply, label, question):\n    return 1.0\n"
STRICT = "def score(reply, label, question):\n    return reply == label\n"
BROKEN = "import no_such_module_here\n\ndef score(reply, label, question):\n    return 1\n"
LOOSE = "def score(reply, label, question):\n    return 'os' in reply or label in reply\n"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (GENEROUS, r"a wrong reply .* is worth 1"),
        (STRICT, r"a right reply \('\\\\boxed\{10\}'"),
        (BROKEN, "no_such_module_here"),
        (LOOSE, r"a reply of code .* is worth 1"),
    ],
)
def test_a_verifier_that_fails_its_probes_is_refused_before_training(tmp_path, source, what):
    (tmp_path / "checks.py").write_text(source)
    settings = PromptsSettings(
        train=rows(tmp_path / "train.jsonl", 12),
        test=rows(tmp_path / "test.jsonl", 4, first=50),
        scorer=f"{tmp_path}/checks.py:score",
        heldout_problems=2,
        contamination_limit=1.0,
    )
    with pytest.raises(InputError, match=f"(?s)fails .* probes.*{what}.*nothing was trained"):
        problem_set(settings, lake=None, seeds=tmp_path, seed=0)


@pytest.mark.parametrize(
    ("setting", "content", "what"),
    [
        ("checks.py:other", CHECKS, r"has no function 'other'"),
        ("missing.py:score", None, r"missing.py cannot be read"),
        ("checks.py", CHECKS, "names no function of a file"),
        ("checks.py:score", "def score(", "is no Python"),
        ("checks.py:score", "x" * 70_000, "cannot be read"),
    ],
)
def test_a_setting_that_names_no_verifier_is_refused(tmp_path, monkeypatch, setting, content, what):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "checks.py").write_text(content)
    with pytest.raises(InputError, match=what):
        read_verifier(setting)


def test_math_verify_says_how_it_is_installed(monkeypatch):
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(own, "version", missing)
    with pytest.raises(InputError, match="evolake.math."):
        read_verifier("math_verify")
    monkeypatch.setattr(own, "version", lambda name: "0.9.0")
    verifier = read_verifier("math_verify")
    assert verifier.imports == ("evolake.verifiers.math_verify_scorer",) and verifier.scorer.startswith(
        "own:math_verify-0.9.0@"
    )
    assert verifier_of(verifier.entry, "here") == verifier


def test_a_problem_whose_verifier_was_not_asked_is_our_fault(tmp_path, checks):
    from evolake.errors import MachineryError
    from evolake.prompts.model.scoring import judge_reply

    item = read(tmp_path, checks)[0]
    with pytest.raises(MachineryError, match="was not asked"):
        judge_reply("10", item, "boxed")
    assert judge_reply("10", replace(item, scorer="answer"), "last").correct
