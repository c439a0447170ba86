"""`evolake champion LINE --out DIR` and `evolake show ID`: what is written is the artifact itself, whole;
what is told of it the lake holds."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from solver_lake import DIFF, ID, make_lake
from tiny_policy import tiny_policy

from evolake.cli import cli
from evolake.designs import tables as designs
from evolake.errors import InputError
from evolake.families.model.family_files import read_family
from evolake.families.model.population import store_family
from evolake.families.tables import FAMILIES
from evolake.lake import ARTIFACTS, CHAMPIONS, DERIVATIONS, Lake, TableSchema, side_table
from evolake.programs.evolution.population import texts_bytes
from evolake.programs.tables import PROGRAMS
from evolake.prompts import tables as prompts
from evolake.prompts.model.prompt import Principle, SystemPrompt, from_json
from evolake.settings import default_seeds

SEEDS = default_seeds()


def evolake(root: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, words, env={"EVOLAKE_LAKE": str(root)})


def publish(
    lake: Lake,
    line: str,
    asset: str,
    schema: TableSchema,
    rows: Sequence[Mapping[str, Any]],
    cycle: str | None = "0001",
) -> None:
    lake.publish(line, asset, schema.frame(rows), cycle=cycle, run_id="r", schema=schema)


def crown(lake: Lake, line: str, kind: str, artifact_id: str, content_sha: str, title: str = "thing") -> None:
    """One finished cycle whose champion is the artifact."""
    row = {
        "artifact_id": artifact_id,
        "line": line,
        "kind": kind,
        "cycle": "0001",
        "state": "champion",
        "content_sha": content_sha,
        "title": title,
    }
    publish(lake, line, side_table("survivors", ARTIFACTS), ARTIFACTS, [row])
    publish(
        lake,
        line,
        side_table("survivors", CHAMPIONS),
        CHAMPIONS,
        [{"line": line, "cycle": "0001", "artifact_id": artifact_id, "score": 0.25}],
    )
    lake.seals.seal(line, "0001", "v1", None, "r")
    lake.seals.seal(line, "0002", "v2", "v1", "r")


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def solvers(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("solvers")
    make_lake(root)
    return root


def test_what_is_shown_of_an_artifact_has_the_cycle_that_it_was_made_in(tmp_path):
    """Also if a later cycle's population has carried it on."""
    lake = Lake(tmp_path / "lake")
    row = {
        "program_id": "e" * 64,
        "project": "toy",
        "cycle": "0002",
        "generation": 2,
        "state": "accepted",
        "operator": "number",
    }
    row |= {"files_sha": lake.blobs.put(texts_bytes({"toy.py": "x = 1\n"}))}
    for cycle in ("0003", "0004"):
        publish(lake, "programs", "incoming_programs", PROGRAMS, [row], cycle)
    crown(lake, "programs", "program", "e" * 64, row["files_sha"])
    shown = json.loads(evolake(lake.root, "show", "e" * 64, "--json").stdout)
    assert (shown["cycle"], shown["facts"]["cycle"], shown["text"]) == ("0002", "0002", "x = 1\n")


def test_a_design_is_taken_out_with_the_values_that_it_reigns_with(tmp_path):
    lake = Lake(tmp_path / "lake")
    source = (SEEDS / "designs" / "baseline.py").read_text()
    row = {
        "design_id": "d" * 64,
        "state": "champion",
        "cycle": "0001",
        "title": "tuned",
        "operator": "tuning",
        "rationale": "less damping",
        "source_sha": lake.blobs.put(source.encode()),
        "hyper": json.dumps({"alpha": 7.5}),
    }
    publish(lake, "designs", "incoming_designs", designs.DESIGNS, [row], "0002")
    decision = {
        "cycle": "0001",
        "comparison": "baseline",
        "challenger_id": "d" * 64,
        "incumbent_id": "b" * 64,
        "N": 80,
        "batch": 12,
    }
    decision |= {
        "profile": "demo",
        "pairs": 3,
        "ratio": 2.5,
        "ratio_low": 2.0,
        "ratio_high": 3.0,
        "wins": True,
        "bound": "",
    }
    publish(lake, "designs", "champion_decisions", designs.DECISIONS, [decision])
    crown(lake, "designs", "design", "d" * 64, row["source_sha"], "tuned")
    done = evolake(lake.root, "champion", "designs", "--out", str(tmp_path / "out"), "--json")
    assert (done.exit_code, json.loads(done.stdout)["files"]) == (0, ["README.md", "design.py"])
    assert files_of(tmp_path / "out") == ["README.md", "design.py"]
    readme = (tmp_path / "out" / "README.md").read_text()
    for said in (
        "Champion of the line designs since cycle 0001",
        "2.5 times less median work than bbbbbbbbbbbb (95% interval 2.0 to 3.0), at N=80",
        "on 3 fresh seeds",
        "profile demo",
        "| consensus (lower is better), cycle 0001 | 0.25 |",
        "evolake designs check design.py",
        "tuning | tuned | less damping |",
    ):
        assert said in readme
    checked = evolake(lake.root, "designs", "check", str(tmp_path / "out" / "design.py"), "--json")
    assert (checked.exit_code, json.loads(checked.stdout)["verdict"]) == (0, "accepted")
    result: dict[str, Any] = {}
    exec((tmp_path / "out" / "design.py").read_text(), result)  # our own seed
    assert (result["HYPER_SPACE"]["alpha"]["default"], result["HYPER_SPACE"]["beta"]["default"]) == (
        7.5,
        20.0,
    )


def test_a_family_is_taken_out_as_the_folder_that_the_gates_accept(tmp_path):
    lake = Lake(tmp_path / "lake")
    family = read_family(min((SEEDS / "families").glob("*/generator.py")).parent)
    row = {
        "family_id": family.family_id,
        "state": "accepted",
        "cycle": "0000",
        "name": family.name,
        "title": family.title,
        "operator": "seed",
        "record_sha": store_family(family, lake.blobs),
    }
    publish(lake, "families", "incoming_families", FAMILIES, [row])
    crown(lake, "families", "family", family.family_id, row["record_sha"], family.title)
    done = evolake(lake.root, "show", family.family_id[:8], "--out", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert family.template in done.stdout
    checked = evolake(lake.root, "families", "check", str(tmp_path / "out" / "family"), "--json")
    summary = json.loads(checked.stdout)
    assert (checked.exit_code, summary["verdict"], summary["family_id"]) == (
        0,
        "accepted with remarks",
        family.family_id,
    )


TOKENIZER = ("chat_template.jinja", "tokenizer.json", "tokenizer_config.json")


def test_a_prompt_is_taken_out_as_the_policy_reads_it_with_the_adapter(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_PROMPTS__POLICY", "tiny")
    lake = Lake(tmp_path / "lake")
    root, child = (
        SystemPrompt((Principle("p1", "Think."),)),
        SystemPrompt((Principle("p1", "Think."), Principle("p2", "Check | the *end*."))),
    )
    rows = [
        {
            "prompt_id": prompt.prompt_id,
            "cycle": cycle,
            "iteration": number,
            "number": number,
            "state": state,
            "operator": operator,
            "parents": parents,
            "principles": prompt.to_json(),
            "text": prompt.text(),
            "size": len(prompt.principles),
            "mu": 25.0,
            "sigma": 8.0,
            "rounds": 1,
        }
        for number, (prompt, cycle, state, operator, parents) in enumerate(
            (
                (root, "0000", "accepted", "root", []),
                (child, "0001", "champion", "mutation", [root.prompt_id]),
            )
        )
    ]
    checkpoint = lake.blobs.put(tiny_policy().save())
    publish(lake, "prompts", "incoming_prompts", prompts.PROMPTS, rows, "0002")
    publish(lake, "prompts", "incoming_derivations", prompts.ARCHIVE["derivations"], [], "0002")
    publish(
        lake,
        "prompts",
        "incoming_state",
        prompts.ARCHIVE["state"],
        [{"name": "checkpoint", "value": json.dumps(checkpoint)}],
        "0002",
    )
    publish(lake, "prompts", "heldout", prompts.EVALUATIONS, [])
    edge = {
        "child_id": child.prompt_id,
        "parent_id": root.prompt_id,
        "operator": "mutation",
        "weight": 1.0,
        "cycle": "0001",
    }
    publish(lake, "prompts", side_table("children", DERIVATIONS), DERIVATIONS, [edge])
    crown(lake, "prompts", "system prompt", child.prompt_id, child.prompt_id, "mutation 1")
    assert evolake(lake.root, "champion", "prompts", "--out", str(tmp_path / "out")).exit_code == 0
    assert files_of(tmp_path / "out") == [
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        *(f"base/{name}" for name in (*TOKENIZER[:1], "config.json", "generation_config.json")),
        *(f"base/{name}" for name in ("model.safetensors", *TOKENIZER[1:])),
        TOKENIZER[0],
        "principles.json",
        "prompt.txt",
        "reply.json",
        "run.py",
        *TOKENIZER[1:],
    ]
    assert (tmp_path / "out" / "prompt.txt").read_text() == child.text()
    assert from_json((tmp_path / "out" / "principles.json").read_text()).prompt_id == child.prompt_id
    assert json.loads((tmp_path / "out" / "reply.json").read_text())["system_prompt"] == child.text()
    assert (tmp_path / "out" / "README.md").read_text().startswith('---\nbase_model: "base"\n')
    assert (
        "| mutation | mutation 1 | adds: Check \\| the \\*end\\*. |"
        in (tmp_path / "out" / "README.md").read_text()
    )
    assert evolake(lake.root, "show", child.prompt_id[:8], "--out", str(tmp_path / "bare")).exit_code == 0
    assert files_of(tmp_path / "bare") == ["README.md", "principles.json", "prompt.txt"]


def test_a_folder_that_holds_something_stays_as_it_is(tmp_path):
    lake = Lake(tmp_path / "lake")
    crown(lake, "other", "k", "c" * 64, lake.blobs.put(b"content\n"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    error = evolake(lake.root, "champion", "other", "--out", str(tmp_path / "out")).exception
    assert isinstance(error, InputError) and "is not empty" in error.what
    assert files_of(tmp_path / "out") == ["mine"]


def test_a_line_that_says_nothing_of_its_artifacts_gives_the_blob(tmp_path):
    lake = Lake(tmp_path / "lake")
    crown(lake, "other", "k", "c" * 64, lake.blobs.put(b"content\n"), "<b>a | b</b>")
    assert evolake(lake.root, "champion", "other", "--out", str(tmp_path / "out")).exit_code == 0
    assert (tmp_path / "out" / "artifact.txt").read_text() == "content\n"
    readme = (tmp_path / "out" / "README.md").read_text()
    assert readme.startswith("# &lt;b>a \\| b&lt;/b>\n")
    assert "<b>" not in readme
    refused = evolake(lake.root, "champion", "other", "--out", str(tmp_path / "more"), "--merge").exception
    assert isinstance(refused, InputError) and "belongs no model" in refused.what
    assert not (tmp_path / "more").exists()


def test_what_cannot_be_written_whole_leaves_nothing_behind(solvers, tmp_path):
    error = evolake(
        solvers, "champion", "solvers", "--out", str(tmp_path / "below" / "out")
    ).exception  # its archive is no blob of this lake
    assert isinstance(error, InputError) and "there is no blob" in error.what
    assert list((tmp_path / "below").iterdir()) == []


def test_an_artifact_is_shown_with_origin_gates_scores_and_text(solvers):
    done = evolake(solvers, "show", ID["fast"][:8], "--json")
    result = json.loads(done.stdout)
    assert (result["verdict"], result["artifact_id"], result["line"], result["kind"]) == (
        "found",
        ID["fast"],
        "solvers",
        "variant",
    )
    assert [(row["parent_id"], row["operator"], row["weight"]) for row in result["parents"]] == [
        (ID["tuned"], "tunable", 1.0)
    ]
    assert (result["facts"]["hypothesis"], result["facts"]["base"], result["text"]) == (
        "fast searches less",
        "alpha",
        DIFF,
    )
    assert (result["champion_in"], result["scores"]["consensus_ranking"]["cycle"]) == (
        [{"cycle": "0002", "score": 0.0}],
        "0002",
    )
    assert {row["outcome"] for row in result["verdicts"]} == {"pass"}
    duel = evolake(solvers, "show", ID["fast"]).stdout.partition("  duel of cycle 0002 against ")[2]
    assert duel.startswith(f"{ID['alpha'][:12]}: a gain beyond the noise; ratio 2.0")
    assert "    family u: 2 formulas" in duel and "helps with probability 1.00" in duel
    said = evolake(solvers, "show", ID["liar"]).stdout
    assert "gate 3 correctness: block by r-correctness: u-1: <wrong>" in said
    assert f"parent     {ID['beta'][:12]} beta, weight 1.00, by patch" in said


def test_an_id_that_several_begin_with_lists_them_and_more_digits_choose(tmp_path):
    lake = Lake(tmp_path)
    ids = ["abcdef12" + digit * 56 for digit in "012"]
    rows = [
        {
            "artifact_id": item,
            "line": "other",
            "kind": "k",
            "cycle": "0001",
            "state": "accepted",
            "title": f"thing {item[-1]}",
        }
        for item in ids
    ]
    publish(lake, "other", side_table("made", ARTIFACTS), ARTIFACTS, rows)
    error = evolake(tmp_path, "show", "abcdef12").exception
    assert isinstance(error, InputError) and error.exit_code == 2
    assert all(f"other k {item[:12]} thing {item[-1]}" in str(error) for item in ids)
    assert json.loads(evolake(tmp_path, "show", ids[1][:9], "--json").stdout)["artifact_id"] == ids[1]


def test_a_title_names_what_alone_has_it(solvers, tmp_path):
    result = json.loads(evolake(solvers, "show", "Tuned", "--json").stdout)
    assert (result["artifact_id"], result["title"]) == (ID["tuned"], "tuned")
    assert ID["fast"] in {row["child_id"] for row in result["born"]} and result["children"] == len(
        result["born"]
    )
    assert f"child      {ID['fast'][:12]} " in evolake(solvers, "show", ID["tuned"]).stdout
    rows = [
        {
            "artifact_id": digit * 64,
            "line": "other",
            "kind": "k",
            "cycle": "0001",
            "state": "accepted",
            "title": "twins",
        }
        for digit in "01"
    ]
    publish(Lake(tmp_path), "other", side_table("made", ARTIFACTS), ARTIFACTS, rows)
    error = evolake(tmp_path, "show", "twins").exception
    assert isinstance(error, InputError) and all(
        f"other k {digit * 12} twins" in str(error) for digit in "01"
    )


@pytest.mark.parametrize("wanted", ["", "abcdef1", "zz", "../../x", "%", "ABCDEF12", "f" * 64])
def test_what_names_nothing_is_a_sentence(solvers, wanted):
    error = evolake(solvers, "show", wanted).exception
    assert isinstance(error, InputError) and f"nothing is called {wanted!r}" in error.what
