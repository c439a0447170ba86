"""`evolake programs new NAME --from-text`: a model writes a project, by a loopback server with written
replies; it is accepted after the checks of any project and an audit, sent back once, or refused."""

import commands
import pytest
from loopback_model import LoopbackModel, say

from evolake.programs.commands.group import FILES

PROGRAM, EVALUATOR = FILES["initial_program.py"], FILES["evaluator.py"]
GOOD = {
    "description": "A short formula for cos(x).",
    "program": PROGRAM,
    "evaluator": EVALUATOR,
    "entry": "curve",
    "cpu_s": 2,
    "repeats": 1,
}
WORST = "worst = max(worst, abs(output - math.cos(x)))"
FORGEABLE = GOOD | {
    "evaluator": EVALUATOR.replace(" or not math.isfinite(output)", "").replace(
        WORST, "worst = max(worst, abs(output - math.cos(x)) if output == output else 0.0)"
    )
}
"""NaN counts as no error at all."""
BROKEN = GOOD | {"program": PROGRAM.replace("1.0 -", "one -")}
DRAWN = GOOD | {"evaluator": EVALUATOR.replace("random.Random(seed)", "random.SystemRandom()")}
WISH = "Fit the cosine between 0 and 2 by a short formula."


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Type the command against a server with these replies; return what it gave, and what was asked."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "EVOLAKE_MODEL_API_KEY": "none",
        "EVOLAKE_MODELS": '{"default": "played"}',
        "EVOLAKE_BUDGET__TOKENS_PER_RUN": "1000000",
        "EVOLAKE_PROGRAMS__AUDIT_S": "5",
    }.items():
        monkeypatch.setenv(name, value)

    def typed(*replies, wish=WISH):
        with LoopbackModel([say(reply) for reply in replies]) as server:
            monkeypatch.setenv("EVOLAKE_MODEL_BASE_URL", server.base_url)
            done = commands.evolake("programs", "new", "./curve", "--from-text", wish)
            return done, server.requests

    return typed


def test_a_good_project_is_checked_audited_and_written(ask, tmp_path):
    (tmp_path / "wish.txt").write_text(WISH)
    done, asked = ask(GOOD, wish="wish.txt")
    assert (done.returncode, len(asked)) == (0, 1), done.stderr
    assert WISH in asked[0].messages[1]["content"]
    assert "0 forged a score" in done.stdout and "protected" in done.stdout
    assert {path.name for path in (tmp_path / "curve").iterdir()} == {*FILES}
    assert (tmp_path / "curve" / "evaluator.py").read_text() == EVALUATOR
    assert commands.evolake("programs", "check", "./curve", "--runs", "2").returncode == 0
    again, asked = ask(GOOD)
    assert (again.returncode, asked) == (2, []) and "is there already" in again.stderr


def test_a_finding_is_sent_back_once_and_the_repaired_project_is_accepted(ask, tmp_path):
    done, asked = ask(FORGEABLE, GOOD)
    assert (done.returncode, len(asked)) == (0, 2), done.stdout + done.stderr
    first, second = (request.messages[1]["content"] for request in asked)
    assert "the score can be forged" in second and FORGEABLE["evaluator"] in second
    assert "forged" not in first and "refused" not in first
    assert not (tmp_path / "curve.refused").exists()


@pytest.mark.parametrize(
    ("reply", "finding"),
    [
        (FORGEABLE, "the score can be forged"),
        (BROKEN, "name 'one' is not defined"),
        (DRAWN, "two evaluations under one seed give different metrics"),
        (GOOD | {"entry": "line"}, "line"),
    ],
)
def test_what_stays_wrong_is_refused_and_kept_apart(ask, tmp_path, reply, finding):
    done, asked = ask(reply)
    assert (done.returncode, len(asked)) == (1, 2), done.stdout + done.stderr
    assert finding in done.stdout and not (tmp_path / "curve").exists()
    refused = tmp_path / "curve.refused"
    assert {path.name for path in refused.iterdir()} == {*FILES, "findings.txt"}
    assert finding in (refused / "findings.txt").read_text()
    assert (refused / "initial_program.py").read_text() == reply["program"]


def test_a_reply_that_is_no_json_writes_nothing(ask, tmp_path):
    done, asked = ask("Sure! Here is a project for you.")
    assert done.returncode == 1 and asked, done.stderr
    assert "no project was written" in done.stdout
    assert not [path for path in tmp_path.iterdir() if path.name != "lake"]


def test_without_a_model_the_error_names_the_way_without_one(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    done = commands.evolake("programs", "new", "./curve", "--from-text", WISH, cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "lacks an endpoint" in done.stderr and "--from-function" in done.stderr
