"""A variant that the compiler makes the same program of as of its seed, or of a variant that lives, is
stopped after its build."""

import json
import subprocess
from pathlib import Path

import pytest
from solver_fixtures import ADAPTER, answering, toy_adapter, toy_tree

from evolake.gates import load_rules
from evolake.gates.checkers import apply
from evolake.lake import BlobStore
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.collecting import same_program
from evolake.solvers.gates.evidence import build_evidence, store_evidence
from evolake.solvers.repository.build import build_variant
from evolake.solvers.repository.variant import create_variant
from evolake.solvers.rules.programs import loaded_sha
from evolake.solvers.settings import SolversSettings

RULES = load_rules(Path(__file__).parents[4] / "data_lake/seeds/rules", "solvers").of_gate("build")
SEED = answering(rounds=10)
DEBUGGED = ADAPTER.replace("-O1 -s", "-O1 -g")
"""Programs with names of symbols and what debuggers read, where a change of a comment shows."""


def said(evidence: dict) -> str:
    assert RULES[-1].id == "solvers-worth-measuring", "the build's other faults are named first"
    found = apply(RULES[-1].check, evidence, RULES[-1].parameters)
    return found.reason if found else ""


def test_a_change_of_nothing_is_told_and_a_change_of_one_number_is_not(tmp_path, requires):
    requires("c++")
    adapter, blobs = toy_adapter(DEBUGGED), BlobStore(tmp_path / "lake")
    texts = {
        "seed": SEED,
        "comment": f"// A comment.\n{SEED}",
        "name": SEED.replace("variables", "number"),
        "number": SEED.replace("k < 10", "k < 11"),
        "twin": SEED.replace("k < 10", "k < 0xb"),
        "other": SEED.replace("k < 10", "k < 12"),
    }
    folders, builds = {}, {}
    for name, text in texts.items():
        tree = toy_tree(tmp_path / "trees" / name, {"code/main.cc": text, "LICENSE": "MIT\n"})
        create_variant(tree, adapter, folders.setdefault(name, tmp_path / name))
        builds[name] = build_variant(folders[name], adapter, blobs)
    evidence = store_evidence(build_evidence(builds["number"]), blobs)
    row = {"variant_id": "n" * 64, "evidence": json.dumps({"build": evidence})}
    gone = {"variant_id": "g" * 64, "evidence": json.dumps({"build": "0" * 64})}
    place = Workspace(
        blobs,
        tmp_path,
        tmp_path,
        SolversSettings(),
        0,
        {},
        lambda _: tmp_path,
        live=(gone, row, row | {"variant_id": "later"}),
    )
    known = place._programs  # pyright: ignore[reportPrivateUsage]
    assert list(known.values()) == ["n" * 64]
    found = {
        name: same_program(builds[name], folders[name], folders["seed"], adapter, blobs, known)[
            "same_program"
        ]
        for name in texts
    }
    assert found == {
        "seed": "",
        "comment": "its seed",
        "name": "its seed",
        "number": "n" * 64,
        "twin": "n" * 64,
        "other": "",
    }
    assert (
        said({"same_program": found["comment"]})
        == "changes nothing: the compiler makes the same program of it as of its seed, byte for byte"
    )
    assert said({"same_program": found["twin"]}).endswith(f"as of the variant {'n' * 64}, byte for byte")
    assert said({"same_program": found["other"]}) == ""


def test_what_is_loaded_is_told_apart_and_what_debuggers_read_is_not(tmp_path, requires):
    compiler = requires("c++")

    def built(text: str, *flags: str) -> str:
        (tmp_path / "main.c").write_text(text)
        subprocess.run(
            [compiler, "-x", "c", *flags, "-o", str(tmp_path / "out"), str(tmp_path / "main.c")],
            check=True,
            capture_output=True,
        )
        return loaded_sha((tmp_path / "out").read_bytes())

    plain = "int big[1000]; int main(void) { return big[3]; }\n"
    assert built(plain, "-g") == built(f"\n\n/* no code */ {plain}", "-g") == built(plain, "-s") != ""
    assert (
        len(
            {
                built(plain, "-s"),
                built(plain.replace("1000", "2000"), "-s"),
                built(plain.replace("[3]", "[4]"), "-s"),
            }
        )
        == 3
    )


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(58), b"\x7fELF\x02\x01" + b"\xff" * 200]
)
def test_a_program_whose_headers_cannot_be_read_is_like_no_other(data):
    assert loaded_sha(data) == ""
