"""What a cycle of the programs line does after its contest: dumb searches in the line's time, and a simpler
champion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace

import commands
import dagster as dg
import pytest
from one_line import OneLine
from programs_fixtures import imports

from evolake.lake import Lake
from evolake.programs.evolution import budgeted_search
from evolake.programs.evolution.population import texts_of
from evolake.programs.library import read_evolved
from evolake.programs.report.material import population_entering
from evolake.programs.search import searches

LINE = "programs"
FILES = {
    "initial_program.py": """# EVOLVE-BLOCK-START
def slope(x):
    unused = [x, x]
    return (0.0 + 5.0) * x + 0.0 * x
# EVOLVE-BLOCK-END
""",
    "evaluator.py": """def cases(seed):
    return [1.0, 2.0]


def score(cases, results):
    gaps = [abs(one["output"] - 2 * case) for case, one in zip(cases, results) if one["status"] == "ok"]
    return {"combined_score": len(gaps) / (2 + sum(gaps))}
""",
    "project.toml": """[program]
entry = "slope"

[evaluator]
mode = "separate"
cpu_s = 2
""",
}
SMALL = {
    "EVOLAKE_PROFILE": "demo",
    "EVOLAKE_WORKERS": "1",
    "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
    "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "8",
    "EVOLAKE_PROGRAMS__HELDOUT_REPEATS": "3",
    "EVOLAKE_PROGRAMS__ISLANDS": "1",
    "EVOLAKE_PROGRAMS__POLISH_S": "0",
    "EVOLAKE_PROGRAMS__BASELINE_SHARE": "3",
}


@pytest.fixture(scope="module")
def evolved(tmp_path_factory) -> Iterator[OneLine]:
    """Two cycles of a small project; in the first one the dumb searches are
    killed once."""
    folder = tmp_path_factory.mktemp("cycles")
    (folder / "slope").mkdir()
    for file, text in FILES.items():
        (folder / "slope" / file).write_text(text)
    places = {"EVOLAKE_LAKE": str(folder / "lake"), "EVOLAKE_PROGRAMS__PROJECTS": str(folder / "slope")}
    places["EVOLAKE_LOGS__OTEL"] = str(spans := folder / "spans")
    spans.write_text("no folder")
    with pytest.MonkeyPatch.context() as monkeypatch, dg.DagsterInstance.ephemeral() as instance:
        for name, value in (SMALL | places).items():
            monkeypatch.setenv(name, value)
        from pipelines.definitions import defs

        assert defs.resolve_job_def(f"{LINE}_seeds").execute_in_process(instance=instance).success
        project = OneLine(LINE, Lake(folder / "lake"), instance, defs)
        project.run("0001", "projects", "generations", "candidates", "rules", "accepted", "champion")
        with monkeypatch.context() as killing:
            killing.setattr(budgeted_search, "NOTED_S", -1e9)
            killing.setattr(searches.Climber, "ask", killed_after(2))
            with pytest.raises(Killed):
                project.run("0001", "baseline")
        KILLED.extend(project.rows("baseline_notes", "0001"))
        project.run("0001", "baseline", "simplified", "survivors")
        LOGGED.extend(project.rows("logged", "0001"))
        spans.unlink()
        project.run("0002")
        yield project


LOGGED: list[dict] = []
"""What was noted of the log after the first cycle, when it could not be written."""
KILLED: list[dict] = []
"""What the searches had noted when they were killed."""


class Killed(Exception):
    """The run ends here."""


def killed_after(batches: int):
    """What tries so many batches, and raises in the next one."""
    ask, left = searches.Climber.ask, [batches]

    def asking(search) -> list:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return ask(search)

    return asking


def test_a_project_is_attacked_when_it_enters_and_not_again_in_the_next_cycle(evolved):
    (first,), (second,) = (evolved.rows("entry_audits", cycle) for cycle in ("0001", "0002"))
    assert (first["verdict"], first["cpu_s"] > 0, second["cpu_s"]) == ("no finding", True, 0.0)
    assert second == first | {"cycle": "0002", "cpu_s": 0.0}


def test_a_log_that_cannot_be_written_stops_no_cycle_and_has_both_later(evolved):
    assert [(row["target"], row["state"]) for row in LOGGED] == [("otel", "failed")]
    assert "FileExistsError" in LOGGED[0]["reason"]
    key = dg.AssetKey([LINE, "story"])
    events = evolved.instance.fetch_materializations(key, limit=2).records
    pages = {item.asset_materialization.partition: item.asset_materialization.metadata for item in events}
    assert "warning" in pages["0001"] and "is not in the log otel" in pages["0001"]["warning"].value
    assert "warning" not in pages["0002"]
    for cycle in ("0001", "0002"):
        assert [row["state"] for row in evolved.rows("logged", cycle)] == ["logged"]
        [found] = json.loads((evolved.lake.root.parent / "spans" / f"programs-{cycle}.json").read_text())[
            "resourceSpans"
        ]
        names = [span["name"] for span in found["scopeSpans"][0]["spans"]]
        assert names[0] == f"cycle programs {cycle}"
        assert names.count("evaluation search") == len(evolved.rows("measured", cycle)) > 0
        assert {"gate form", "gate run"} < set(names), names


def test_a_project_has_dumb_searches_that_continue_after_a_kill_and_over_cycles(evolved):
    [noted] = KILLED
    state = json.loads(evolved.lake.blobs.get(noted["entry_sha"]))
    first, second = (
        {row["search"]: row for row in evolved.rows("baseline", cycle)} for cycle in ("0001", "0002")
    )
    assert set(first) == set(second) == {"hill", "restart"}
    assert state["rounds"] == 2 and first["hill"]["cpu_s"] > state["seconds"] > 0
    assert first["hill"]["evaluations"] > state["evaluations"] == 2
    assert first["hill"]["score"] >= state["score"]
    spent = sum(row["cpu_s"] for row in evolved.rows("generations", "0001"))
    assert sum(row["cpu_s"] for row in first.values()) > 2 * spent > 0
    for row in first.values():
        assert (
            row["line_cpu_s"] == row["line_total_cpu_s"] == spent and row["total_cpu_s"] == row["cpu_s"] > 0
        )
    for search, row in second.items():
        assert row["score"] >= first[search]["score"]
        assert row["total_cpu_s"] == first[search]["cpu_s"] + row["cpu_s"]
        assert row["line_total_cpu_s"] == spent + row["line_cpu_s"]


def test_sql_compares_them_with_the_search_of_the_line(evolved):
    done = commands.evolake("sql", "--file", "cookbook/program_searches.sql", "--json")
    found = json.loads(done.stdout)
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    assert [(row["cycle"], row["search"]) for row in rows] == [
        (cycle, search) for cycle in ("0001", "0002") for search in ("hill", "line", "restart")
    ]
    for row in rows:
        assert row["evaluations"] >= 0 and row["cpu_s"] > 0 and 0 < row["best"] <= 1
    assert rows[3]["cpu_s_so_far"] == pytest.approx(rows[0]["cpu_s"] + rows[3]["cpu_s"])
    assert rows[1]["evaluations"] == len(
        [row for row in evolved.rows("measured", "0001") if row["purpose"] == "search"]
    )


def test_each_note_of_a_polish_is_kept_not_only_the_first(tmp_path):
    from assets.programs.evolve import POLISHES, polishes_of

    lake = Lake(tmp_path)

    def extra(schema, rows, name) -> None:
        lake.publish(LINE, name, schema.frame(rows), cycle="0001", run_id="r", schema=schema)

    store = SimpleNamespace(
        cycle="0001",
        blobs=lake.blobs,
        extra=extra,
        log=print,
        has=lambda name: lake.record(LINE, name, "0001") is not None,
        rows=lambda name: lake.read(LINE, name, "0001").to_dicts(),
    )
    project = imports()
    for part in (1, 2, 3):
        state = {"score": 1.0, "seconds": 10.0 * part, "by": "steps"}
        polishes_of(store, project).note(4, "key", state)
        assert polishes_of(store, project).held == {(4, "key"): state}
    assert [row["part"] for row in store.rows(POLISHES)] == [3]


def test_the_better_of_them_is_measured_under_the_held_out_seeds_of_the_contest(evolved):
    for cycle in ("0001", "0002"):
        rows = evolved.rows("baseline", cycle)
        [best] = [row for row in rows if row["heldout_mean"] is not None]
        assert best["score"] == max(row["score"] for row in rows)
        contest = [row for row in evolved.rows("heldout", cycle) if row["side"] == "champion"]
        own = evolved.rows("baseline_heldout", cycle)
        assert best["heldout_seeds"] == len(contest)
        if own:
            assert [(row["program_id"], row["seed"]) for row in own] == [
                (best["program_id"], row["seed"]) for row in contest
            ]
            assert sum(row["score"] for row in own) / len(own) == best["heldout_mean"]


def test_what_was_spent_already_is_not_spent_again(evolved, monkeypatch):
    before = evolved.rows("baseline", "0002")
    monkeypatch.setattr(searches.Climber, "ask", killed_after(0))
    evolved.run("0002", "baseline")
    assert evolved.rows("baseline", "0002") == before


def test_the_champion_and_the_report_show_what_they_found(evolved, tmp_path):
    shown = commands.evolake("champion", LINE).stdout
    assert "\n  baseline  combined_score " in shown and "; hill climbing or restarts, each in " in shown
    *_, remark = json.loads(commands.evolake("champion", LINE, "--json").stdout)["remarks"]
    assert f"  {remark}\n" in shown
    out = tmp_path / "report.html"
    assert commands.evolake("report", "--lines", LINE, "--out", out).returncode == 0
    page = out.read_text()
    assert "hill climbing or restarts, each in" in page and "Dumb searches in the line" in page


def test_a_champion_is_simplified_without_a_loss_and_both_are_rows(evolved):
    [row] = evolved.rows("simplified", "0002")
    [champion] = evolved.rows("champion", "0002")
    assert row["program_id"] == champion["holder_id"] and row["complete"] and row["trials"] > 0
    population = population_entering(evolved.lake, "0003")
    held = population.champion("slope")
    [made] = evolved.rows("simplified_programs", "0002")
    assert (held["program_id"], held["size"]) == (row["program_id"], row["size"])
    assert made["program_id"] == row["simplified_id"] and made["parents"] == [held["program_id"]]
    assert made["size"] == row["simplified_size"] < row["size"] and made["score"] >= held["score"]
    assert made["program_id"] not in set(population.programs["program_id"]), "no cycle starts from it"
    text = texts_of(evolved.lake.blobs, made["files_sha"])["initial_program.py"]
    assert "unused" not in text and "0.0" not in text and text.startswith("# EVOLVE-BLOCK-START\n")
    sql = "SELECT operator FROM lineage WHERE child_id = $id AND parent_id = $champion"
    done = commands.evolake(
        "sql", sql, "-p", f"id={made['program_id']}", "-p", f"champion={held['program_id']}"
    )
    assert "simplify" in done.stdout


def test_the_simpler_one_is_under_the_held_out_seeds_of_the_contest(evolved):
    cycle = next(cycle for cycle in ("0001", "0002") if evolved.rows("simplified_heldout", cycle))
    rows, [row] = evolved.rows("simplified_heldout", cycle), evolved.rows("simplified", cycle)
    [decision] = evolved.rows("champion", cycle)
    side = "challenger" if decision["wins"] else "champion"
    contest = [one for one in evolved.rows("heldout", cycle) if one["side"] == side]
    assert [one["seed"] for one in rows] == [one["seed"] for one in contest]
    gaps = [one["score"] - other["score"] for one, other in zip(rows, contest, strict=True)]
    assert row["difference"] == pytest.approx(sum(gaps) / len(gaps)) and row["difference"] >= -1e-12


def test_simplifying_again_after_a_kill_gives_the_same_rows(evolved):
    cycle = next(cycle for cycle in ("0001", "0002") if evolved.rows("simplified_heldout", cycle))
    before = {table: evolved.rows(table, cycle) for table in ("simplified", "simplified_programs")}
    evolved.run(cycle, "simplified")
    for table, rows in before.items():
        again = evolved.rows(table, cycle)
        assert [row | {"cpu_s": None} for row in again] == [row | {"cpu_s": None} for row in rows]


def test_show_export_and_the_library_give_the_simpler_one_and_say_from_which(evolved, tmp_path):
    [made] = evolved.rows("simplified_programs", "0002")
    name, champion = made["program_id"], made["parents"][0]
    text = texts_of(evolved.lake.blobs, made["files_sha"])["initial_program.py"]
    shown = commands.evolake("programs", "show", "slope").stdout
    assert champion in shown and f"shown     as simplified to {name[:12]}, " in shown
    assert (
        "\n+    return " in shown and f"  {champion}" not in commands.evolake("programs", "show", name).stdout
    )
    assert f"simplified from {champion[:12]}" in commands.evolake("show", name).stdout
    done = commands.evolake("champion", LINE, "--out", tmp_path / "out").stdout
    assert f"simplified to {name[:12]}" in done and champion in done
    assert (tmp_path / "out" / "slope" / "initial_program.py").read_text() == text
    assert f"simplified to {name[:12]}" in (tmp_path / "out" / "README.md").read_text()
    assert read_evolved(evolved.lake, "slope").program == text
    [line] = json.loads(commands.evolake("programs", "blame", name, "--json").stdout)["lines"][2:3]
    assert (line["operator"], line["origin_id"]) == ("simplify", name)


def test_a_champion_that_stays_is_not_simplified_again(evolved, monkeypatch):
    monkeypatch.setenv("EVOLAKE_PROGRAMS__HELDOUT_REPEATS", "2")  # too few for a new champion
    [before], [program] = (evolved.rows(table, "0002") for table in ("simplified", "simplified_programs"))
    evolved.run("0003")
    assert evolved.rows("simplified", "0003") == [before | {"cycle": "0003", "cpu_s": 0.0}]
    assert evolved.rows("simplified_programs", "0003") == [program]
