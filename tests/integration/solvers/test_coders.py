"""Who else writes a variant: a session of a model with tools in the jail, a command of the user's own, a tree
that somebody submits."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from loopback_model import KEY, Action, LoopbackModel, call
from pydantic import SecretStr
from small_solver import SMALL_CNF, SmallProject, planned, small_project

from evolake.agents import Agents, open_agents
from evolake.agents.coding_agent import words_of
from evolake.agents.roles import OperatorsBackend
from evolake.cli import cli
from evolake.errors import InputError
from evolake.jail import open_pool
from evolake.journal import read_journal
from evolake.lake import Lake
from evolake.settings import BudgetSettings, Settings
from evolake.settings import load as load_settings
from evolake.solvers.edits import Edit
from evolake.solvers.evolution.authors import submit, submitted_plans
from evolake.solvers.evolution.coder_session import SessionAuthor, Shop
from evolake.solvers.evolution.coding import PREFIX, SETTING, CommandAuthor, check_coder
from evolake.solvers.evolution.drafts import Proposals
from evolake.solvers.evolution.planning import Base
from evolake.solvers.evolution.population import empty_population
from evolake.solvers.measurement.benchmark import stage_limits
from evolake.solvers.repository.variant import archive_variant
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.tables import CODER_RUNS
from evolake.solvers.tuning import submitting
from evolake.solvers.tuning.command_line import CommandLine, Setting
from evolake.solvers.tuning.search import Tried
from evolake.solvers.tuning.tuning import Tuned

SOURCE = "src/core/Solver.cc"
FINISH = ("finish", {"title": "larger budget", "changelog": "The budget is three times the first interval."})


@pytest.fixture
def project(tmp_path, requires) -> SmallProject:
    requires("c++")
    return small_project(tmp_path)


def by_sessions(project: SmallProject, script: list[Action]) -> tuple[Proposals, Agents]:
    """One plan, carried out in a session with a real server, jail and compiler."""
    path = project.into.parent / "tiny.cnf"
    path.write_text(SMALL_CNF)
    suite = Suite("train", (Instance("tiny", "small", "SAT", "0" * 64, path=path, base="tiny"),))
    with LoopbackModel(script) as server, open_pool(workers=1, preload=()) as pool:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "scripted"},
            budget=BudgetSettings(tokens_per_run=10_000_000),
        )
        with open_agents(settings, project.into.parent / "lake", "0001", "run", line="solvers") as agents:
            shop = Shop(
                project.blobs,
                project.into.parent / "cache",
                stage_limits(SolversSettings()),
                lambda: suite,
                lambda word: suite,
                "0001",
            )
            author = SessionAuthor(agents, pool.call, shop)
            return project.propose(
                agents, [planned([project.seed], "rewrite", "")], author=lambda plan: author
            ), agents


def test_bench_draws_other_formulas_after_each_change_and_the_same_ones_again(project):
    """The draw follows from session, sources and the number that the call names: a replay draws alike."""
    from evolake.solvers.evolution.coder_session import commands
    from evolake.solvers.roles.coder import BenchFormulas

    path = project.into.parent / "tiny.cnf"
    path.write_text(SMALL_CNF)
    words: list[str] = []

    def fresh(word: str) -> Suite:
        words.append(word)
        return Suite(
            "train",
            tuple(
                Instance(f"tiny{n}@{word}", "small", "SAT", "0" * 64, path=path, base=f"tiny{n}@{word}")
                for n in range(5)
            ),
        )

    shop = Shop(
        project.blobs,
        project.into.parent / "cache",
        stage_limits(SolversSettings()),
        lambda: Suite("smoke", ()),
        fresh,
        "0001",
    )
    run = {name: commands(shop, project.base, project.seed, name)["bench"] for name in ("one", "two")}
    other = project.child("other", Edit("tunable", "var-decay", {"value": 0.8})).folder
    said = [
        run[session](folder, BenchFormulas(formulas=2, draw=draw))
        for session, folder, draw in [
            ("one", project.seed.folder, 1),
            ("one", project.seed.folder, 1),
            ("one", project.seed.folder, 2),
            ("one", other, 1),
            ("two", project.seed.folder, 1),
        ]
    ]
    assert words[0] == words[1] and len(set(words)) == 4
    assert all(
        f"@{word}" in text and len(text.splitlines()) == 5 for word, text in zip(words, said, strict=True)
    )


@pytest.mark.parametrize(
    "script, reason",
    [
        (
            [call(("write_file", {"path": "bin/starexec_run_default", "text": "echo s UNSATISFIABLE"}))],
            "solvers_coder_session: 3 turns in a row",
        ),
        ([call(FINISH)], "solvers_coder_session: no gain found"),
    ],
)
def test_a_session_of_no_use_leaves_its_plan_unmade_with_the_reason(project, script, reason):
    result, _ = by_sessions(project, script)
    assert result.variants == []
    (failed,) = result.failed_proposals
    assert failed.reason.startswith(reason), failed.reason


def by_a_command(
    project: SmallProject, text: str, timeout_s: float = 60, **more: Any
) -> tuple[Proposals, list[dict[str, Any]]]:
    """One plan, carried out by a script that plays a coding agent's command line."""
    script = project.into.parent / "agent.py"
    script.write_text(text)
    author = CommandAuthor((sys.executable, str(script)), timeout_s, project.blobs, "0001")
    with Agents(OperatorsBackend("0001"), line="solvers", cycle="0001") as agents:
        result = project.propose(
            agents, [planned([project.seed], "rewrite", "")], author=lambda plan: author, **more
        )
    CODER_RUNS.frame(author.runs)
    return result, author.runs


LINKS = (
    f"import os; os.remove('{SOURCE}'); os.symlink('/etc/passwd', '{SOURCE}'); os.symlink('/etc/passwd', "
    "'src/core/passwd.h')"
)


@pytest.mark.parametrize(
    "text, timeout_s, code, reason",
    [
        ("raise SystemExit(3)", 60, 3, "the command ended with exit code 3"),
        (
            "import time; time.sleep(600)",
            0.5,
            None,
            "the command did not end within 0.5 s, or could not be started",
        ),
        ("print('thinking')", 60, 0, "no source file was changed"),
        (
            f"open('{SOURCE}', 'w').write('x' * 2_000_001)",
            60,
            0,
            f"{SOURCE} would have more than 2000000 characters",
        ),
    ],
)
def test_a_command_of_no_use_leaves_its_plan_unmade_and_a_row(project, text, timeout_s, code, reason):
    result, (row,) = by_a_command(project, text, timeout_s)
    assert (result.variants, [item.reason for item in result.failed_proposals]) == ([], [reason])
    assert (row["exit_code"], row["variant_id"], row["reason"]) == (code, None, reason)


LOOKS = f"""
import os, pathlib, stat
other = pathlib.Path("reference/other/core/Solver.cc")
assert "# Other solvers, to be read\\n- reference/other/\\n" in pathlib.Path(os.environ["EVOLAKE_TASK"]).read_text()
assert not pathlib.Path("reference/small").exists() and not stat.S_IMODE(other.stat().st_mode) & 0o222
taken = "* 7" if "* 7" in other.read_text() else ""
source = pathlib.Path("{SOURCE}")
source.write_text(source.read_text().replace("* 2", taken))
other.chmod(0o644)
other.write_text("mine")
"""  # noqa: E501


def test_a_command_reads_the_other_seeds_and_nothing_of_them_is_taken(project):
    other = project.into.parent / "other"
    shutil.copytree(project.base.folder, other)
    (other / SOURCE).write_text((other / SOURCE).read_text().replace("* 2", "* 7"))
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    result, (row,) = by_a_command(
        project, LOOKS, bases={"small": project.base, "other": Base("other", other, project.base.adapter)}
    )
    (variant,) = result.variants
    assert (row["exit_code"], variant.blocked, variant.dropped) == (0, False, ())
    assert (
        "opt_first.value * 7" in (variant.folder / SOURCE).read_text()
        and not (variant.folder / "reference").exists()
    )
    assert {path: path.read_bytes() for path in other.rglob("*") if path.is_file()} == before


def test_links_that_a_command_leaves_lead_nowhere(project):
    result, _ = by_a_command(project, LINKS)
    (variant,) = result.variants
    assert variant.blocked, "without its source file it is not built"
    assert "root:" not in variant.diff and not (variant.folder / "src/core/passwd.h").exists()


@pytest.mark.parametrize(
    "setting, message", [("command:nosuchprogram x", "names no program"), ("command:'", "cannot be used")]
)
def test_a_command_that_cannot_be_run_is_told_before_any_work(setting, message):
    with pytest.raises(InputError, match=message):
        check_coder(load_settings("demo").with_section(SolversSettings(coder=setting)))
    assert words_of(f"command:{sys.executable} -c 'a b'", SETTING, PREFIX) == (sys.executable, "-c", "a b")


@pytest.fixture
def begun(project, monkeypatch) -> Lake:
    """A lake whose first population is the small seed, with its adapter among the settings' seeds."""
    lake = Lake(project.into.parent / "lake")
    row = {
        "variant_id": project.seed.variant_id,
        "state": "champion",
        "cycle": "0000",
        "title": "small",
        "base": "small1",
        "operator": "seed",
        "origin": "seed",
        "parents": [],
        "archive_sha": archive_variant(project.seed.folder, lake.blobs),
    }
    tables = empty_population().with_tables(variants=[row]).frames()
    records = {
        name: lake.publish("solvers", f"incoming_{name}", frame, cycle="0001", run_id="seeds")
        for name, frame in tables.items()
    }
    lake.seals.seal(
        "solvers",
        "0001",
        "version",
        None,
        "seeds",
        {f"incoming_{name}@0001": made.content_sha for name, made in records.items()},
    )
    monkeypatch.setattr(
        "evolake.solvers.evolution.authors.load_adapter", lambda name, folder: project.base.adapter
    )
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake.root))
    return lake


def changed_tree(project: SmallProject, change: Callable[[Path], object]) -> Path:
    """A copy of the seed with a change."""
    import shutil

    folder = project.into.parent / "mine"
    shutil.copytree(project.seed.folder, folder)
    change(folder)
    return folder


def larger(folder: Path) -> None:
    (folder / SOURCE).write_text((folder / SOURCE).read_text().replace("* 2", "* 3"))


def more_files(folder: Path) -> None:
    larger(folder)
    (folder / "src/core/notes.txt").write_text("mine")


@pytest.mark.parametrize(
    "change, parent, hypothesis, message",
    [
        (larger, "0" * 12, "A larger budget.", "no variant that may be built on begins with '000000000000'"),
        (larger, "", " ", "needs a hypothesis"),
        (lambda folder: None, "", "The same.", "no source file was changed"),
        (more_files, "", "More.", "src/core/notes.txt differs from the parent's"),
        (lambda folder: (folder / "variant.toml").unlink(), "", "No card.", "is no repository of the layout"),
        (
            lambda folder: (folder / "variant.toml").write_text('base = "other"\nadapter = "small1"\n'),
            "",
            "Another.",
            "descends from another seed",
        ),
    ],
)
def test_what_cannot_be_submitted_is_told(project, begun, change, parent, hypothesis, message):
    with pytest.raises(InputError, match=message):
        submit(
            begun,
            changed_tree(project, change),
            parent or project.seed.variant_id,
            hypothesis,
            adapters=Path(),
        )
    assert begun.record("solvers", "submissions") is None


BROKEN = ("edit_file", {"path": SOURCE, "search": "opt_first.value * 2", "replace": "opt_frist.value * 3"})


MENDED = ("edit_file", {"path": SOURCE, "search": "opt_frist", "replace": "opt_first"})


EXPERT = [
    call(("list_files", {}), ("grep", {"pattern": "opt_first"}), thought="Where is the budget?"),
    call(("read_file", {"path": SOURCE})),
    call(BROKEN),
    call(("build", {})),
    call(MENDED),
    call(("build", {}), ("smoke", {"formulas": 1})),
    call(("bench", {"formulas": 1})),
    call(("run_formula", {"formula": "tiny"}), ("run_formula", {"formula": "unknown"})),
    call(FINISH),
]


def test_a_session_explores_breaks_the_build_mends_it_tests_and_becomes_a_variant(project):
    result, agents = by_sessions(project, EXPERT)
    (variant,) = result.variants
    assert (variant.origin, variant.title, variant.blocked, variant.repairs, variant.edits) == (
        "model",
        "larger budget",
        False,
        0,
        None,
    )
    assert "opt_first.value * 3" in (variant.folder / SOURCE).read_text()
    assert "three times" in (variant.folder / "CHANGELOG.md").read_text()
    turns = agents.turns()
    assert (
        {row["artifact_id"] for row in turns}
        == {variant.variant_id}
        == {row["artifact_id"] for row in agents.rows()}
    )
    details = {
        number: [done["result"] for done in json.loads(row["text"])["calls"]]
        for number, row in enumerate(turns)
    }
    assert "It was not built: compile error" in details[3][0] and "opt_frist" in details[3][0]
    assert details[5][0].startswith("It was built")
    assert [line.split()[0] for line in details[5][1].splitlines()] == [
        "tiny",
        "tiny~renamed",
        "tiny~shuffled",
        "of",
        "tiny",
    ]
    assert [line.split()[:3] for line in details[6][0].splitlines()[:2]] == [
        ["yours", "tiny", "malformed"],
        ["parent", "tiny", "malformed"],
    ]
    assert details[6][0].splitlines()[2].startswith("cost ratio, parent over yours: 1 (95% interval ")
    assert details[7][1] == "There is no formula of this name. There are, among others: tiny."
    assert (project.base.folder / SOURCE).read_text().count("opt_first.value * 2") == 1


WELL = f"""
import os, pathlib
task = pathlib.Path(os.environ["EVOLAKE_TASK"]).read_text()
assert "A stronger decay follows" in task and "no threads" in task and not [name for name in os.environ if name == "EVOLAKE_MODEL_API_KEY"]
source = pathlib.Path("{SOURCE}")
source.write_text(source.read_text().replace("* 2", "* 3"))
pathlib.Path("src/core/notes.txt").write_text("mine")
pathlib.Path("CHANGELOG.md").write_text("The budget is three times as large.")
print("done")
"""  # noqa: E501


def test_what_a_command_leaves_in_the_sources_is_the_candidate(project, monkeypatch):
    monkeypatch.setenv("EVOLAKE_MODEL_API_KEY", KEY)
    result, (row,) = by_a_command(project, WELL)
    (variant,) = result.variants
    assert (variant.origin, variant.blocked) == ("command", False)
    assert "opt_first.value * 3" in (variant.folder / SOURCE).read_text()
    assert "The budget is three times as large." in (variant.folder / "CHANGELOG.md").read_text()
    assert not (variant.folder / "TASK.md").exists() and not (variant.folder / "src/core/notes.txt").exists()
    assert [item["what"] for item in variant.dropped] == ["src/core/notes.txt"]
    assert (row["exit_code"], row["variant_id"], row["reason"]) == (0, variant.variant_id, None)
    assert row["wall_s"] > 0 and project.blobs.get(row["output_sha"]) == b"done\n"


def test_an_ablation_tells_one_arm_less_judges_both_alike_and_goes_on_from_its_journal(
    project, begun, monkeypatch, tmp_path
):
    from evolake.solvers.evolution import ablation
    from evolake.solvers.evolution.workspace import Workspace
    from evolake.solvers.gates.judging import VariantResults
    from evolake.solvers.repository.variant import source_sha
    from evolake.solvers.roles.shown import forbidden_edits, knowledge_texts, rule_texts

    judged: list[int] = []
    parts: list[tuple[int, int]] = []
    plan = ablation.plan_cycle

    def judge_folder(workspace, ruleset, *, cycle, run_id):
        def judge(folder: Path) -> VariantResults:
            judged.append(len(ruleset.rules))
            return VariantResults(source_sha(folder), (), project.judge(folder).build.ok, None)

        return judge

    def plan_cycle(agents, population, workspace, ruleset, **more):
        parts.append((len(rule_texts(ruleset)), len(knowledge_texts(ruleset))))
        assert forbidden_edits(ruleset) == []
        return plan(agents, population, workspace, ruleset, **more)

    monkeypatch.setattr(ablation, "judge_folder", judge_folder)
    monkeypatch.setattr(ablation, "plan_cycle", plan_cycle)
    monkeypatch.setattr(Workspace, "adapter", lambda self, name: project.base.adapter)
    monkeypatch.setenv("EVOLAKE_SOLVERS__VARIANTS_PER_CYCLE", "2")

    def made(repeats: int, without: str = "rules"):
        words = [
            "solvers",
            "ablate",
            "--without",
            without,
            "--repeats",
            str(repeats),
            "--out",
            str(tmp_path / "made"),
            "--json",
        ]
        return CliRunner().invoke(cli, words)

    first = made(1)
    assert first.exit_code == 0, first.output
    arms = json.loads(first.stdout)["arms"]
    assert [(arm["arm"], arm["plans"], arm["blocked"]) for arm in arms] == [
        ("all", 2, {}),
        ("without rules", 2, {}),
    ]
    assert all(arm["made"]["low"] <= arm["made"]["share"] <= arm["made"]["high"] for arm in arms)
    assert parts[0][0] > 30 and parts[0][1] == 4 and parts[1] == (0, 0)
    assert len(set(judged)) == 1, "the gates know no arm"
    journal = tmp_path / "made/journal.jsonl"
    whole, held = journal.read_bytes(), read_journal(journal)
    journal.write_bytes(whole[: whole.rindex(b"{") + 9])  # a kill while the second arm was written
    assert json.loads(made(1).stdout)["arms"] == arms and len(parts) == 3 and read_journal(journal) == held
    assert made(1).exit_code == 0 and len(parts) == 3
    other = made(1, "knowledge")
    assert isinstance(other.exception, InputError) and "of another ablation" in str(other.exception)


def tuned_by(**values: Any) -> Tuned:
    """What a tuning of the small seed chose."""
    moved = sorted((name.replace("_", "-"), value) for name, value in values.items())
    decision: Any = SimpleNamespace(ratio=1.5, ratio_low=1.2, ratio_high=1.9, formulas=20)
    race = Tried(Setting("", tuple(moved)), "drawn", {"f": 0.4}, 1.5)
    line, words = CommandLine("-", {}, ()), ("-var-decay=0.8",)
    return Tuned(
        "small1", line, "", 20, 20, words, race, decision, (), 1.0, 1.0, 1.0, pl.DataFrame()
    )  # fmt: skip


def test_a_tuned_setting_enters_the_next_cycle_as_defaults_in_the_sources(project, begun, monkeypatch):
    monkeypatch.setattr(submitting, "load_adapter", lambda name, folder: project.base.adapter)
    settings = load_settings("demo")
    row = submitting.submit_setting(begun, settings, tuned_by(var_decay=0.8))
    (plan,) = submitted_plans(begun, row["cycle"], 0)
    assert plan["parent_ids"] == [project.seed.variant_id] and "1.5 times lower cost" in plan["hypothesis"]
    expected = project.child("tuned", Edit("tunable", "var-decay", {"value": 0.8})).folder
    begun.blobs.get_tree(row["tree_sha"], project.into.parent / "kept")
    assert (project.into.parent / "kept" / SOURCE).read_text() == (expected / SOURCE).read_text()
    with pytest.raises(InputError, match="cannot be moved into the sources") as raised:
        submitting.submit_setting(begun, settings, tuned_by(var_decay=0.7, unheard_of=1))
    assert "unheard-of: no option" in str(raised.value)
    with pytest.raises(InputError, match="no seed minisat22 lives in this lake's solvers line"):
        submitting.seed_in(begun, "minisat22")
