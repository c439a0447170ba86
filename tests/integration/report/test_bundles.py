"""`evolake bundle`: what is exported holds on an empty lake; what is changed, or claims what is not so, does
not."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard
from bundle_fixtures import FAMILY, SMALL_PROMPTS, design_lake, family_lake, program_lake, prompt_lake
from bundle_forging import opened, repacked
from commands import evolake
from hypothesis import given, settings
from hypothesis import strategies as st
from lent_pool import lent_pool
from programs_fixtures import EVALUATOR, PROGRAM, apart, imports

from evolake.bundles.container import BLOCK, Bundle, Refused, as_json, pack, unpack
from evolake.bundles.exporting import COMMON
from evolake.bundles.model import Said, bundle_of
from evolake.bundles.verifying import HOLDS, Report, unmeasured
from evolake.errors import JailUnavailable
from evolake.families.model.family_files import read_family
from evolake.programs.model.project import pack_files, unpack_files
from evolake.settings import default_seeds
from evolake.solvers.bundle import SOURCES
from evolake.solvers.bundle_duel import MOST_BYTES, OTHER, require_bounded

MAKE: Mapping[str, Callable[[Path], Any]] = {
    "designs": design_lake,
    "families": family_lake,
    "programs": lambda root: program_lake(root, apart()),
    "prompts": prompt_lake,
}
NAMES = {"families": read_family(default_seeds() / "families" / FAMILY).family_id[:10]}
ENVIRONMENT = {f"EVOLAKE_PROMPTS__{name.upper()}": str(value) for name, value in SMALL_PROMPTS.items()}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory) -> Callable[[str], Path]:
    """line -> its exported champion, made once."""
    made: dict[str, Path] = {}

    def of(line: str) -> Path:
        if line not in made:
            folder = tmp_path_factory.mktemp(line)
            MAKE[line](folder / "lake")
            made[line] = folder / "champion.tar"
            done = typed(folder / "lake", "export", NAMES.get(line, line), "-o", str(made[line]))
            assert done.returncode == 0, done.stderr
        return made[line]

    return of


@pytest.fixture(autouse=True)
def commands_share_a_jail(monkeypatch) -> None:
    """The first command of a line opens it, as each would its own."""
    monkeypatch.setattr("evolake.jail.open_pool", lent_pool)


def environment(lake: Path) -> dict[str, str]:
    return dict(os.environ) | ENVIRONMENT | {"EVOLAKE_LAKE": str(lake)}


def typed(lake: Path, *words: str) -> Any:
    return evolake("bundle", *words, environment=environment(lake))


def verified(file: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of the check, where there is no lake at all."""
    done = typed(file.parent / "nothing-here", "verify", str(file), "--json", *words)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def changed(file: Path, out: Path, **claims: Callable[[dict[str, Any]], None]) -> Path:
    """The bundle with other JSON members under right hashes. claims: member without .json -> what changes its
    value."""
    result = unpack(file.read_bytes())
    assert isinstance(result, Bundle)
    members = dict(result.members)
    for name, change in claims.items():
        value = json.loads(members[f"{name}.json"])
        change(value)
        members[f"{name}.json"] = as_json(value)
    out.write_bytes(repacked(result.facts, members))
    return out


@pytest.mark.parametrize("line", MAKE)
def test_the_champion_of_each_line_holds_where_there_is_no_lake(bundles, line, tmp_path):
    file = bundles(line)
    code, summary = verified(file, "--all")
    assert (code, summary["verdict"], summary["line"]) == (0, "holds", line), summary
    again = {item["what"] for item in summary["run_again"]}
    assert {"identity", "gates"} <= again and len(again) > 2
    assert {item["what"] for item in summary["only_hashed"]} >= {"lineage"}
    out = tmp_path / "again.tar"
    assert typed(file.parent / "lake", "export", NAMES.get(line, line), "-o", str(out)).returncode == 0
    assert out.read_bytes() == file.read_bytes()
    assert not (file.parent / "nothing-here").exists()


@pytest.mark.parametrize("line", MAKE)
def test_what_is_taken_out_says_how_it_is_measured_again_by_commands_that_work(bundles, line, tmp_path):
    lake = bundles(line).parent / "lake"
    words = ("show", NAMES[line]) if line in NAMES else ("champion", line)
    assert evolake(*words, "--out", tmp_path / "out", environment=environment(lake)).returncode == 0
    parts = [
        item.strip()
        for item in (tmp_path / "out" / "README.md").read_text().splitlines()
        if item.startswith("    evolake bundle")
    ]
    assert [item.split()[2] for item in parts] == ["export", "verify"]
    for place, command in zip((lake, tmp_path / "none"), parts, strict=True):
        done = evolake(*command.split()[1:], environment=environment(place), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert ": holds" in done.stdout and "run again" in done.stdout


def test_verify_says_how_many_evaluations_were_run_again(bundles, tmp_path):
    some, every = (
        typed(tmp_path / "none", "verify", str(bundles("designs")), *words).stdout
        for words in (("--sample", "1"), ("--all",))
    )
    assert (
        "  1 of the 2 evaluations that it brings was run again; --all runs every one that can be run here\n"
        in some
    )
    assert "  2 of the 2 evaluations that it brings were run again\n" in every
    assert "runs on seeds that no design had met: 1 of 2, of which 1 gives the same median step" in some
    for line, brought in {"families": 4, "programs": 5, "designs": 2}.items():
        assert verified(bundles(line), "--all")[1]["evaluations"] == {
            "run_again": brought,
            "brought": brought,
        }
        assert verified(bundles(line), "--sample", "1")[1]["evaluations"]["brought"] == brought


@settings(max_examples=150)
@given(data=st.data())
def test_no_byte_of_a_bundle_can_be_another(bundles, data):
    whole = bundles("programs").read_bytes()
    place, mask = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 255))
    flipped = whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :]
    assert isinstance(unpack(flipped), Refused)


@given(cut=st.integers(0, 40_000), more=st.binary(max_size=600))
def test_a_bundle_is_neither_cut_nor_followed_by_anything(bundles, cut, more):
    whole = bundles("programs").read_bytes()
    assert isinstance(unpack(whole[:cut] + more), Refused) or whole[:cut] + more == whole


@given(st.binary(max_size=3000))
def test_bytes_that_are_no_bundle_are_refused(noise):
    assert isinstance(unpack(noise), Refused)
    assert isinstance(unpack(noise.ljust(BLOCK, b"\0")), Refused)


def test_a_flipped_byte_ends_the_command_with_1_and_a_sentence(bundles, tmp_path):
    whole = bundles("programs").read_bytes()
    for number, place in enumerate((0, 130, 600, len(whole) // 2, len(whole) - 1)):
        file = tmp_path / f"{number}.tar"
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        code, summary = verified(file)
        assert (code, summary["verdict"]) == (1, "does_not_hold") and "no whole bundle" in summary["reasons"][
            0
        ]


def answered_by_a_tool(claims: dict[str, Any]) -> None:
    """The right answer stands in the reply, in the result of a search."""
    claims["settings"]["tools"] = ["search"]
    reply = "<tool>search 1 + 4</tool>\n<result>\n\\boxed{5}\n</result>\n"
    claims["replies"][0].update(reply=reply, correct=True, formatted=True)


FALSE_CLAIMS = {
    "a better held-out score": (
        "programs",
        {"claims": lambda claims: claims["own"][0].update(score=9.5)},
        "score",
    ),
    "better search metrics": (
        "programs",
        {"claims": lambda claims: claims["search"][0]["metrics"].update(combined_score=7.0)},
        "search",
    ),
    "another program": (
        "programs",
        {"program": lambda texts: texts.update({"initial_program.py": "def double(x):\n    return 7\n"})},
        "identity",
    ),
    "fewer steps": (
        "designs",
        {"claims": lambda claims: claims["runs"][0].update(median_step=1)},
        "it claims median step 1",
    ),
    "a better share": (
        "designs",
        {"claims": lambda claims: claims["runs"][0].update(unsolved_fraction=0.0, median_step=2)},
        "measured is",
    ),
    "other values": ("designs", {"claims": lambda claims: claims["hyper"].update(alpha=7.5)}, "identity"),
    "another label": (
        "families",
        {"claims": lambda claims: claims["instances"][0].update(answer='"no such"')},
        "the label is",
    ),
    "another text": (
        "families",
        {"claims": lambda claims: claims["instances"][0].update(text="What is 1 + 1?")},
        "its text is",
    ),
    "a right reply": (
        "prompts",
        {"claims": lambda claims: claims["replies"][0].update(correct=True)},
        "and it claims right",
    ),
    "an answer that is its tool's": (
        "prompts",
        {"claims": lambda claims: answered_by_a_tool(claims)},
        "and it claims right",
    ),
    "edits that make another": (
        "prompts",
        {"claims": lambda claims: claims["edits"].clear()},
        "form blocks it",
    ),
    "a held problem": (
        "prompts",
        {"problems": lambda rows: rows[0].update(text="Check the end.", split="train")},
        "leak blocks it",
    ),
    "a verdict that is none": (
        "programs",
        {"verdicts": lambda read: read["verdicts"][0].update(outcome="block", reason="bad")},
        "its own verdicts",
    ),
    "odd weights": (
        "prompts",
        {"lineage": lambda summary: summary["derivations"][0].update(weight=3.0)},
        "shares of the parents",
    ),
    "no claims": ("designs", {"claims": lambda claims: claims.clear()}, "cannot be read"),
    "a huge run": ("designs", {"claims": lambda claims: claims["runs"][0].update(N=10**9)}, "cannot be read"),
}


@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_claims_that_are_not_so_are_refused_by_what_is_run_again(bundles, name, tmp_path):
    line, claims, said = FALSE_CLAIMS[name]
    code, summary = verified(changed(bundles(line), tmp_path / "false.tar", **claims), "--all")
    assert (code, summary["verdict"]) == (1, "does_not_hold"), summary
    assert said in summary["reasons"][0], summary["reasons"]


def test_a_faulty_program_under_right_hashes_is_blocked_by_a_gate(tmp_path):
    honest = imports(evaluator=EVALUATOR.replace("TARGET = 31.4159", "TARGET = 25.0"))
    program_lake(tmp_path / "lake", honest)
    assert typed(tmp_path / "lake", "export", "programs", "-o", str(tmp_path / "b.tar")).returncode == 0
    result = unpack((tmp_path / "b.tar").read_bytes())
    assert isinstance(result, Bundle)
    texts = {"initial_program.py": PROGRAM.replace("return scale * x + shift", "while True: pass")}
    from evolake.programs.model.project import program_id

    faulty = program_id("toy", texts)
    lineage = json.loads(result.members["lineage.json"])
    first = lineage["artifacts"][-1]
    lineage["artifacts"].append(first | {"artifact_id": faulty})
    edge = {"child_id": faulty, "parent_id": first["artifact_id"], "operator": "model", "weight": 1.0}
    lineage["derivations"].append(edge)
    members = dict(result.members) | {
        "program.json": json.dumps(texts).encode(),
        "lineage.json": as_json(lineage),
    }
    claims = json.loads(members["claims.json"])
    claims["settings"]["cpu_s"] = 1
    (tmp_path / "faulty.tar").write_bytes(
        repacked({**result.facts, "artifact_id": faulty}, members | {"claims.json": as_json(claims)})
    )
    code, summary = verified(tmp_path / "faulty.tar")
    assert code == 1 and "run blocks it" in summary["reasons"][0], summary
    code, summary = verified(tmp_path / "b.tar")
    assert code == 0 and any("not protected" in item["said"] for item in summary["notes"])


def test_rules_of_the_bundle_judge_it_and_are_said_beside_the_installed_ones(bundles, tmp_path):
    result = unpack(bundles("programs").read_bytes())
    assert isinstance(result, Bundle)
    name = "rules/programs-readable.md"
    text = result.members[name].decode()

    def with_rule(text: str, out: str) -> tuple[int, dict[str, Any]]:
        (tmp_path / out).write_bytes(repacked(result.facts, dict(result.members) | {name: text.encode()}))
        return verified(tmp_path / out)

    strict = text.replace(text[text.index('"most_characters": ') : text.index("}")], '"most_characters": 3')
    code, summary = with_rule(strict, "strict.tar")
    assert code == 1 and "3 are allowed" in summary["reasons"][0]
    assert any(
        "judged by the bundle's version" in item["said"] and "installed is" in item["said"]
        for item in summary["notes"]
    )
    loose = text.replace(
        text[text.index('"most_characters": ') : text.index("}")], '"most_characters": 900000'
    )
    code, summary = with_rule(loose, "loose.tar")
    assert code == 0 and any("the installed rules pass it, too" in item["said"] for item in summary["notes"])
    code, summary = with_rule(
        text.replace("check: programs.readable", "check: programs.no_copy").replace(
            '"most_characters"', '"x"'
        ),
        "other.tar",
    )
    assert code == 0 and any("it was not asked again" in item["said"] for item in summary["only_hashed"])
    code, summary = with_rule("no front matter", "none.tar")
    assert code == 1 and "programs-readable cannot be read" in summary["reasons"][0]


def test_members_that_no_bundle_of_the_line_has_are_refused(bundles, tmp_path):
    result = unpack(bundles("programs").read_bytes())
    assert isinstance(result, Bundle)
    (tmp_path / "more.tar").write_bytes(pack(result.facts, dict(result.members) | {"more.json": b"{}"}))
    code, summary = verified(tmp_path / "more.tar")
    assert code == 1 and "more.json" in summary["reasons"][0]
    for bad in ("../x", "/x", "a//b", ".hidden", "a/../b", "bundle.json", "x" * 101):
        with pytest.raises(ValueError, match="no member may be called"):
            pack({}, {bad: b""})


def as_solver(file: Path) -> Bundle:
    """A bundle of a solver, as far as what is read before its identity."""
    held = opened(file)
    members = {name: data for name, data in held.members.items() if name in COMMON or "/" in name}
    facts = {**held.facts, "line": "solvers", "kind": "variant"}
    inside = members | {SOURCES: b"sources", OTHER: b"other"}
    done = unpack(repacked(facts, inside))
    assert isinstance(done, Bundle)
    return done


Forge = Callable[[dict[str, Any], dict[str, bytes], list[str]], None]
"""Called with facts, members and the names of the line's own members; changes them."""


def _another_rule(facts: dict[str, Any], members: dict[str, bytes], own: list[str]) -> None:
    name = next(name for name in members if name.startswith("rules/"))
    members[name] += b"\nMore is allowed.\n"


def _no_rule(facts: dict[str, Any], members: dict[str, bytes], own: list[str]) -> None:
    del members[next(name for name in members if name.startswith("rules/"))]


def _other_member(facts: dict[str, Any], members: dict[str, bytes], own: list[str]) -> None:
    """The last one: what the artifact is compared with, or what evaluates it, where the line has such."""
    members[own[-1]] = (
        pack_files(unpack_files(members[own[-1]]) | {"note.txt": b"x"})
        if own[-1] == "project.json"
        else members[own[-1]] + b"\n"
    )


def _other_artifact(facts: dict[str, Any], members: dict[str, bytes], own: list[str]) -> None:
    facts["artifact_id"] = "f" * 64


def _no_identity(facts: dict[str, Any], members: dict[str, bytes], own: list[str]) -> None:
    facts["identity"] = {"sha256": facts["identity"]["sha256"]}


FORGED: dict[str, tuple[Forge, str]] = {
    "another rule": (_another_rule, "identity: the rules in it has the hash"),
    "no rule": (_no_rule, "identity: the rules in it has the hash"),
    "another member": (_other_member, "identity: the "),
    "another artifact": (_other_artifact, "its identity is "),
    "no identity": (_no_identity, "does not say what its statements rest on"),
}


@pytest.mark.parametrize("line", [*MAKE, "solvers"])
@pytest.mark.parametrize("name", FORGED)
def test_what_statements_rest_on_is_what_the_identity_names(bundles, line, name, tmp_path):
    whole = as_solver(bundles("designs")) if line == "solvers" else opened(bundles(line))
    forge, said = FORGED[name]
    facts, members = json.loads(json.dumps(whole.facts)), dict(whole.members)
    forge(facts, members, [item for item in bundle_of(line).members if item in members])
    (tmp_path / "forged.tar").write_bytes(pack(facts, members))
    code, summary = verified(tmp_path / "forged.tar")
    assert (code, said in summary["reasons"][0]) == (1, True), summary
    if name != "no identity":
        (tmp_path / "careful.tar").write_bytes(repacked(facts, members))
        code, summary = verified(tmp_path / "careful.tar", "--identity", whole.facts["identity"]["sha256"])
        assert code == 1 and "its identity is" in summary["reasons"][0]


@pytest.mark.parametrize(
    ("packed", "said"),
    [(zstandard.compress(b"\0" * (MOST_BYTES + 1)), "more than"), (b"no archive", "cannot be unpacked")],
)
def test_packed_sources_are_not_laid_out_before_their_size_is_known(packed, said):
    with pytest.raises(ValueError, match=said):
        require_bounded(packed)


@pytest.mark.parametrize(
    ("said", "word", "first_line"),
    [
        ([], "not measured again", "holds, but for its gain, which was not measured again"),
        (
            [Said("gain", "open", "few", gain=True)],
            "open",
            "holds, but for its gain, which was neither reached beyond the noise nor refuted",
        ),
        ([Said("gain", "holds", "2 times", gain=True)], "measured again", "holds"),
    ],
)
def test_a_gain_that_was_not_reached_here_is_never_called_so(said, word, first_line):
    """Whatever the line looks at; of one that looks at no gain, the gain is not measured again."""
    bundle = Bundle({"line": "bridges", "champion": {"gain": {"text": "5 times longer"}}}, {}, "")
    result = Report(HOLDS, "", (*said, *unmeasured(bundle, said)), bundle.facts, "")
    assert (result.gain, result.lines()[0]) == (word, f"bridges: {first_line}")
    assert result.to_json()["gain"] == word
    assert any("not measured again gain: stated is: 5 times longer" in line for line in result.lines()) == (
        not said
    )


@pytest.mark.parametrize(
    "champion",
    [
        {"score": 1.0},
        [],
        {"cycle": "0001", "since": "0001", "score": "1", "gain": None},
        {"cycle": "0001", "since": "0001", "score": 1.0, "gain": {"text": "5 times"}},
    ],
)
def test_what_is_stated_of_a_champion_must_be_a_statement(bundles, champion, tmp_path):
    result = unpack(bundles("designs").read_bytes())
    assert isinstance(result, Bundle)
    (tmp_path / "odd.tar").write_bytes(pack({**result.facts, "champion": champion}, result.members))
    code, summary = verified(tmp_path / "odd.tar")
    assert code == 1 and "its manifest does not say" in summary["reasons"][0], summary


def test_without_a_jail_nothing_is_judged_and_the_exit_code_is_3(bundles, monkeypatch):
    def absent(*_: object, **__: object) -> None:
        raise JailUnavailable("no working sandbox", do="evolake doctor")

    monkeypatch.setattr("evolake.jail.open_pool", absent)
    code, summary = verified(bundles("designs"))
    assert (code, summary["verdict"]) == (3, "cannot_be_judged_here") and "no working sandbox" in summary[
        "reasons"
    ][0]


def test_the_root_names_one_bundle(bundles, tmp_path):
    file = bundles("programs")
    result = unpack(file.read_bytes())
    assert isinstance(result, Bundle)
    assert verified(file, "--root", result.root, "--sample", "1")[0] == 0
    other = changed(file, tmp_path / "other.tar", claims=lambda claims: claims.update(noise=5.0))
    code, summary = verified(other, "--root", result.root)
    assert code == 1 and "it is another bundle" in summary["reasons"][0]


def test_what_cannot_be_bundled_is_a_sentence(bundles, tmp_path):
    lake = bundles("families").parent / "lake"
    for name, said in (
        ("repair", "has no champion"),
        ("families", "the id of an artifact"),
        ("nosuch", "nothing is called"),
    ):
        done = typed(lake, "export", name, "-o", str(tmp_path / "x.tar"))
        assert done.returncode == 2 and said in done.stderr, done.stderr
    (tmp_path / "x.tar").write_bytes(b"mine")
    done = typed(lake, "export", NAMES["families"], "-o", str(tmp_path / "x.tar"))
    assert (
        done.returncode == 2
        and "is there already" in done.stderr
        and (tmp_path / "x.tar").read_bytes() == b"mine"
    )
