"""Audits as bundles: what they state is run again where they are verified, and forgeries do not hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import pytest
from audit_fixtures import EVALUATORS, files_of, openevolve_run

from evolake.audits.bundle import BEST as BEST_FILE
from evolake.audits.bundle import BUNDLE, PROJECT, RUN, id_of
from evolake.bundles.container import Bundle, as_json, pack, unpack
from evolake.bundles.exporting import CLAIMS, LINEAGE
from evolake.bundles.identity import identity_of
from evolake.lake import Lake

HOSTILE = "\x1b[31m<script>"
INITIAL = EVALUATORS["sound"]["search"]["program"]
BEST = INITIAL.replace("[0.5, 0.5]", "[3.2, 3.25]")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory) -> dict[str, Path]:
    """Bundles of an audit with a forged score, and of one of a run without a finding."""
    folder = tmp_path_factory.mktemp("bundles")
    for name, group, entry in (("bad", "unsound", "degenerate"), ("good", "sound", "search")):
        (folder / name).mkdir()
        for file, text in files_of(EVALUATORS[group][entry]).items():
            (folder / name / file).write_text(text)
    run = openevolve_run(folder / "good" / "openevolve_output", [INITIAL, BEST], [-15.125, -0.0025])
    made = {"bad": (folder / "bad", "evaluator", "20"), "good": (run, "gain", "12")}
    for name, (path, part, seconds) in made.items():
        words = ["--only", part, "--seconds", seconds, "--bundle", folder / f"{name}.tar"]
        done = commands.evolake("audit", path, *words)
        assert done.returncode == (name == "bad"), done.stdout + done.stderr
    return {name: folder / f"{name}.tar" for name in made}


def verified(path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = commands.evolake("bundle", "verify", path, "--json", *words)
    assert "\x1b" not in done.stdout
    return done.returncode, json.loads(done.stdout)


def changed(
    path: Path, out: Path, change: Callable[[dict[str, Any]], Any], leave_out: tuple[str, ...] = ()
) -> Path:
    """A bundle with other claims, or without some members, and every hash over them."""
    bundle = unpack(path.read_bytes())
    assert isinstance(bundle, Bundle)
    claims, facts, members = bundle.read(CLAIMS), dict(bundle.facts), dict(bundle.members)
    change(claims)
    audit = claims["audit"]
    facts |= {"state": "not sound" if audit["findings"] else "no finding", "title": audit["project"]}
    members[CLAIMS] = as_json(claims)
    for name in leave_out:
        members.pop(name, None)
    own = {name: data for name, data in members.items() if name in (PROJECT, BEST_FILE, RUN)}
    facts["artifact_id"] = id_of(claims, own)
    members[LINEAGE] = as_json({"artifacts": [{"artifact_id": facts["artifact_id"]}], "derivations": []})
    out.write_bytes(pack(facts | {"identity": identity_of(BUNDLE, facts, members)}, members))
    return out


def test_a_forged_score_is_forged_again_and_bound_to_its_evaluator(bundles):
    code, found = verified(bundles["bad"])
    assert (code, found["verdict"], found["kind"]) == (0, "holds", "audit")
    assert {item["what"].partition(",")[0] for item in found["run_again"]} == {"finding 1"}
    assert "forges again" in found["run_again"][0]["said"]
    assert {"project.json", "rules"} <= found["identity"]["rests_on"].keys()
    data = bytearray(bundles["bad"].read_bytes())
    data[data.index(b"def run")] ^= 1
    bundles["bad"].with_name("bit.tar").write_bytes(data)
    assert verified(bundles["bad"].with_name("bit.tar"))[0] == 1


def test_a_contest_is_recomputed_evaluated_again_and_held_on_fresh_seeds(bundles):
    code, found = verified(bundles["good"])
    assert (code, found["verdict"]) == (0, "holds")
    recomputed = {item["what"] for item in found["recomputed"]}
    assert recomputed == {"record of the run", "contest"}
    assert {item["what"] for item in found["run_again"]} == {"evaluations of the contest", "gain"}
    assert found["evaluations"]["run_again"] == 5


def worse_program(claims: dict[str, Any]) -> None:
    claims["audit"]["findings"][0]["program"] = EVALUATORS["unsound"]["degenerate"]["program"]


def another_attack(claims: dict[str, Any]) -> None:
    claims["audit"]["findings"][0]["name"] = "frames: changes-result"


def hostile(claims: dict[str, Any]) -> None:
    claims["audit"]["findings"][0]["name"] = f"degenerate answers: {HOSTILE}"
    claims["audit"]["project"] = HOSTILE


def no_finding(claims: dict[str, Any]) -> None:
    claims["audit"]["findings"] = []


def other_scores(claims: dict[str, Any]) -> None:
    for item in claims["audit"]["scores"]:
        item["score"] = item["score"] + (1.0 if item["side"] == "best" else 0.0)


def other_figure(claims: dict[str, Any]) -> None:
    claims["audit"]["figures"]["gain"]["gain"] = "99"


def fewer_duplicates(claims: dict[str, Any]) -> None:
    claims["audit"]["figures"]["gain"]["duplicates"] = "7"


def no_gain(claims: dict[str, Any]) -> None:
    item = {"number": 1, "about": "gain", "name": "not shown", "reason": "r", "change": "c", "command": "x"}
    claims["audit"]["findings"] = [item | {"program": ""}]


def no_parts(claims: dict[str, Any]) -> None:
    claims["audit"] |= {"findings": [], "parts": []}


def no_rows(claims: dict[str, Any]) -> None:
    claims["audit"]["scores"] = []
    claims["audit"]["figures"]["gain"]["gain"] = "9999 (95 % 9998 to 10000)"


def unreadable(claims: dict[str, Any]) -> None:
    claims["audit"]["scores"] = [{"about": 1}]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("bad", worse_program, "no better than the initial program"),
        ("bad", another_attack, "forges no score here"),
        ("bad", hostile, ""),
        ("bad", no_finding, "degenerate answers"),
        ("good", other_scores, "contest"),
        ("good", other_figure, "contest"),
        ("good", fewer_duplicates, "duplicates"),
        ("good", no_gain, "contest"),
        ("good", no_rows, "contest"),
        ("bad", no_parts, "verdict"),
        ("good", unreadable, "cannot be read"),
    ],
)
def test_a_forged_verdict_does_not_hold(bundles, tmp_path, name, change, said):
    code, found = verified(changed(bundles[name], tmp_path / "forged.tar", change))
    if change is hostile:  # an attack that this evolake does not know is not measured
        assert "finding 1" in found["not_measured_again"][0]["what"]
    else:
        assert (code, found["verdict"]) == (1, "does_not_hold") and said in found["reasons"][0]


def test_what_the_findings_rest_on_cannot_be_left_out(bundles, tmp_path):
    forged = changed(bundles["good"], tmp_path / "forged.tar", lambda claims: None, (PROJECT,))
    code, found = verified(forged)
    assert (code, found["verdict"]) == (1, "does_not_hold") and "evaluator" in found["reasons"][0]


def test_an_honest_audit_of_a_best_program_without_a_score_holds(tmp_path):
    (tmp_path / "good").mkdir()
    for file, text in files_of(EVALUATORS["sound"]["search"]).items():
        (tmp_path / "good" / file).write_text(text)
    (tmp_path / "broken.py").write_text(f"{INITIAL}\nraise ValueError\n")
    words = ["--only", "gain", "--seconds", "8", "--bundle", tmp_path / "b.tar", "--json"]
    made = json.loads(commands.evolake("audit", tmp_path / "good", tmp_path / "broken.py", *words).stdout)
    assert "gain" not in made["figures"]["gain"] and made["scores"]
    assert verified(tmp_path / "b.tar")[0] == 0

    def a_gain(claims: dict[str, Any]) -> None:
        claims["audit"]["figures"]["gain"]["gain"] = "9999 (95 % 9998 to 10000)"

    code, found = verified(changed(tmp_path / "b.tar", tmp_path / "forged.tar", a_gain))
    assert (code, found["verdict"]) == (1, "does_not_hold") and "contest" in found["reasons"][0]


def test_a_program_that_is_another_than_the_attack_is_left_open(bundles, tmp_path):
    def merely_good(claims: dict[str, Any]) -> None:
        item = claims["audit"]["findings"][0]
        item["program"] += "\n# it forges, too, but it is another program"

    code, found = verified(changed(bundles["bad"], tmp_path / "forged.tar", merely_good))
    assert code == 0 and "may be merely good" in json.dumps(found)


def test_a_finding_of_the_measurement_cannot_be_left_out(tmp_path):
    (tmp_path / "clock").mkdir()
    for file, text in files_of(EVALUATORS["unsound"]["timing"]).items():
        (tmp_path / "clock" / file).write_text(text)
    words = ["--only", "measurement", "--seconds", "6", "--bundle", tmp_path / "clock.tar", "--json"]
    made = json.loads(commands.evolake("audit", tmp_path / "clock", *words).stdout)
    assert "clock" in {item["name"] for item in made["findings"]}
    assert verified(tmp_path / "clock.tar")[0] == 0
    code, found = verified(changed(tmp_path / "clock.tar", tmp_path / "forged.tar", no_finding))
    assert (code, found["verdict"]) == (1, "does_not_hold") and "clock" in json.dumps(found["reasons"])


def test_an_audit_is_no_champion(bundles, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    done = commands.evolake("bundle", "export", "audits", "-o", tmp_path / "x.tar")
    assert done.returncode == 2 and "audits has no champion" in done.stderr


def test_a_verdict_is_kept_in_a_lake_and_as_a_bundle(bundles, tmp_path, monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    words = [
        "--only",
        "measurement",
        "--seconds",
        "4",
        "--into",
        tmp_path / "lake",
        "--bundle",
        tmp_path / "b.tar",
    ]
    done = commands.evolake("audit", bundles["good"].parent / "good", *words, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["lake"]) == (0, str(tmp_path / "lake"))
    assert Lake(tmp_path / "lake").cycles("audits", "measurements") == [found["audit"]]
    assert verified(tmp_path / "b.tar")[0] == 0
