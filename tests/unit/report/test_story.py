"""What a cycle has to tell: the same sentences for the page, the UI and the terminal, no digit too many, and
nothing that reads as markup."""

from base64 import b64decode
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import dagster as dg
import pytest
from solver_lake import ID, make_lake

from assets.cycle import Sealed
from assets.line import Line
from assets.story import LONGEST_TAG, story_page
from evolake.lake import AGENT_CALLS, Lake, side_table
from evolake.programs.report.story import baseline_in_words
from evolake.programs.tables import BASELINE, DECISIONS, MEASURED, PROGRAMS, PROJECTS
from evolake.report.pages import page
from evolake.report.story import INLINE, Block, Cost, Gate, Story, Trend, markdown, picture, story_of
from evolake.visible import in_a_cell


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return make_lake(tmp_path_factory.mktemp("lake"))


def test_the_story_of_a_cycle_says_who_leads_what_was_stopped_and_what_it_cost(lake):
    first, second = (story_of(lake, "solvers", cycle) for cycle in ("0001", "0002"))
    summary = dict(second.lines())
    assert len(second.lines()) <= 10
    assert summary["Leads"] == f"<b>fast</b> ({ID['fast'][:12]}), since cycle 0002"
    assert summary["Gain"] == (
        "2.00 times lower cost than alpha (95% interval 1.90 to 2.10, noise floor 1.01), "
        "PAR-2 1.15 s against 2.3 s on 8 formulas, 2 pairs each"
    )
    assert summary["Changed"] == "<b>fast</b> took the title from alpha"
    assert (summary["Blocked"], summary["Proposed"]) == ("nothing", "1 variant; 1 passed every gate")
    before = dict(first.lines())
    assert before["Blocked"] == "1 at correctness. Most often by r-correctness: u-1: <wrong>"
    assert before["Rank 1"] == (
        "tuned did not become champion: no gain beyond the noise; ratio 1.05 (95% interval 0.95 to 1.15), "
        "PAR-2 2.19 s against 2.3 s on 8 formulas, 2 pairs each, noise floor 1.01"
    )
    assert second.spent.cpu_s and second.cost.cpu_s and second.spent.cpu_s > second.cost.cpu_s
    assert [point[1] for point in second.trend.points] == pytest.approx([2.3, 1.15])


def test_roles_that_gave_no_valid_reply_are_told_for_the_cycle_and_those_before_it(tmp_path):
    lake = Lake(tmp_path)

    def asked(cycle: str, *calls: tuple[str, str]) -> None:
        rows = [
            {
                "call_id": f"{cycle}-{number}",
                "cycle": cycle,
                "role": role,
                "backend": "model",
                "model": "m",
                "prompt_sha": "p",
                "latency_s": 0.0,
                "attempt": 0,
                "status": status,
            }
            for number, (role, status) in enumerate(calls)
        ]
        lake.publish(
            "bridges",
            side_table("plan", AGENT_CALLS),
            AGENT_CALLS.frame(rows),
            cycle=cycle,
            run_id="r",
            schema=AGENT_CALLS,
        )

    asked(
        "0001",
        ("planner", "ok"),
        ("coder", "invalid"),
        ("coder", "replayed+invalid"),
        ("coder", "lost+no_usage"),
    )
    asked("0002", ("planner", "empty"), ("coder", "invalid"), ("coder", "ok+answered_by:m2"))
    first, second = story_of(lake, "bridges", "0001"), story_of(lake, "bridges", "0002")
    assert first.unanswered == {"0001": "no valid reply of coder (invalid 2, lost 1)"}
    assert second.unanswered == {**first.unanswered, "0002": "no valid reply of planner (empty 1)"}
    assert (
        dict(second.lines())["Proposed"]
        == "0 candidates; 0 passed every gate; no valid reply of planner (empty 1)"
    )
    assert replace(second, cycle="0003").silent() == []
    shown = page([], [second])
    assert (
        shown.count('class="n bad">0</td>') == 2
        and "in cycle 0001 no valid reply of coder (invalid 2, lost 1)" in shown
    )
    assert "bad" not in page([], [replace(second, unanswered={})]).partition("</style>")[2]


def test_programs_tell_every_project_what_their_evaluations_cost_and_whose_score_is_open(tmp_path):
    lake = Lake(tmp_path)
    decided = {
        "cycle": "0001",
        "holder_low": 1.0,
        "holder_high": 3.0,
        "initial_mean": 1.0,
        "pairs": 2,
        "noise": 0.25,
        "reason": "r",
    }
    rows = [
        {
            **decided,
            "project": "fit",
            "champion_id": "a",
            "challenger_id": "b",
            "holder_id": "b",
            "wins": True,
            "holder_mean": 2.0,
            "protected": True,
        },
        {
            **decided,
            "project": "open",
            "champion_id": "c",
            "challenger_id": "d",
            "holder_id": "c",
            "wins": False,
            "holder_mean": 1.0,
            "difference": -0.5,
            "low": -1.0,
            "high": 0.125,
            "protected": False,
        },
    ]
    own = {"cycle": "0001", "score_name": "points", "higher_is_better": True}
    runs = [
        {"cycle": "0001", "program_id": name, "status": status, "cpu_s": 1.5}
        for name, status in (("b", "ok"), ("d", "ok"), ("e", "raised"))
    ]
    dumb = [
        {
            "cycle": "0001",
            "project": "fit",
            "search": search,
            "cpu_s": 1.0,
            "total_cpu_s": 2.0,
            "line_total_cpu_s": 16.0,
            "heldout_mean": mean,
        }
        for search, mean in (("hill", 1.5), ("restart", None))
    ]
    living = [
        {"program_id": name, "state": state}
        for name, state in (("b", "champion"), ("c", "accepted"), ("a", "retired"))
    ]
    for asset, schema, of_asset in (
        ("champion", DECISIONS, rows),
        ("projects", PROJECTS, [{**own, "project": name} for name in ("fit", "open")]),
        ("measured", MEASURED, runs),
        ("heldout", MEASURED, runs[:1]),
        ("baseline", BASELINE, dumb),
    ):
        lake.publish("programs", asset, schema.frame(of_asset), cycle="0001", run_id="r", schema=schema)
    lake.publish(
        "programs", "incoming_programs", PROGRAMS.frame(living), cycle="0002", run_id="r", schema=PROGRAMS
    )
    summary = dict((story := story_of(lake, "programs", "0001")).lines())
    assert (
        summary["Gain"]
        == "fit: held-out points 2, the initial program's 1; hill climbing or restarts, each in 12% "
        "of the time, 1.5; open: none yet (held-out points 1, the "
        "initial program's 1)"
    )
    assert summary["Rank 1"] == (
        "open: the challenger did not become champion: its held-out score differs by -0.5 (95% interval "
        "-1 to +0.125, above 0 is better, 2 seeds), noise within a seed 0.25"
    )
    assert (summary["Measured"], summary["Changed"]) == (
        "4 evaluations of 3 programs, 1 of them ended without a result",
        "new champion of fit",
    )
    assert (summary["Population"], summary["Next"].partition(":")[0]) == (
        "2 living programs of 2 projects",
        "protect the score of open",
    )
    assert (story.cost.cpu_s, story.spent.cpu_s, list(story.trend.points)) == (8.0, 8.0, [("0001", 2.0)])


@pytest.mark.parametrize(
    ("own", "line", "said"),
    [
        (10.0, 10.2, "hill climbing or restarts, each in the same time, 2.19"),
        (5.0, 10.0, "hill climbing or restarts, each in half the time, 2.19"),
        (7.0, 10.0, "hill climbing or restarts, each in 70% of the time, 2.19"),
        (30.0, 10.0, "hill climbing or restarts, each in 300% of the time, 2.19"),
        (90.0, None, "hill climbing or restarts, 1.5 min each, 2.19"),
        (0.0, 10.0, ""),
    ],
)
def test_a_dumb_search_is_shown_with_its_share_of_the_time(own, line, said):
    row = {"searches": "hill,restart", "baseline_mean": 2.19, "baseline_cpu_s": own, "line_cpu_s": line}
    assert baseline_in_words(row) == said
    assert baseline_in_words(row | {"searches": "hill,restart", "baseline_mean": None}) == ""


def test_a_line_says_how_many_contests_it_held_and_how_many_false_promotions_that_lets_expect(tmp_path):
    lake = Lake(tmp_path)
    held = [("b", True, "sign flips of 8 pairs"), (None, False, None), ("c", False, "sign flips of 8 pairs")]
    for cycle, (challenger, wins, test) in zip(("0001", "0002", "0003"), held, strict=True):
        rows = [
            {
                "cycle": cycle,
                "project": "fit",
                "champion_id": "a",
                "challenger_id": challenger,
                "holder_id": "a",
                "wins": wins,
                "pairs": 8,
                "noise": 0.0,
                "reason": "r",
                "test": test,
                "protected": True,
            }
        ]
        lake.publish("programs", "champion", DECISIONS.frame(rows), cycle=cycle, run_id="r", schema=DECISIONS)
    own = PROJECTS.frame(
        [{"cycle": "0003", "project": "fit", "score_name": "points", "higher_is_better": True}]
    )
    for asset, schema, frame in (
        ("projects", PROJECTS, own),
        ("measured", MEASURED, MEASURED.frame([])),
        ("heldout", MEASURED, MEASURED.frame([])),
        ("incoming_programs", PROGRAMS, PROGRAMS.frame([])),
    ):
        lake.publish("programs", asset, frame, cycle="0003", run_id="r", schema=schema)
    said = "2 contests so far, 1 won; at 2.5 % each, at most 0.05 false promotions are expected"
    assert (
        story_of(lake, "programs", "0003").contests
        == dict(story_of(lake, "programs", "0003").lines())["Measured"]
        == said
    )
    assert story_of(lake, "programs", "0001").contests.startswith(
        "1 contest so far, 1 won; at 2.5 % each, at most 0.025 false"
    )


def test_an_earlier_cycle_s_story_knows_nothing_of_later_ones(lake):
    assert "fast" not in str(story_of(lake, "solvers", "0001"))


def test_a_line_that_no_package_registers_has_the_shared_story(tmp_path):
    summary = story_of(Lake(tmp_path), "bridges", "0001")
    assert dict(summary.lines())["Next"] == "another cycle: evolake run --lines bridges"
    assert dict(summary.lines())["Leads"] == "none yet"


def test_markdown_fits_the_ui_and_what_candidates_say_is_text_in_it():
    evil = "[x](http://y) <img src=z> *b* `c` # d\n- e"
    summary = Story(
        "toys",
        "0001",
        champion=evil * 20,
        champion_id="a" * 64,
        since="0001",
        gain=evil * 20,
        duel=evil * 20,
        made=9,
        measured=evil * 20,
        gates=[Gate("shape", 9, 9)],
        blocks=[Block("r", 9, evil * 20)],
        changed=evil * 20,
        goes_on=evil * 20,
        look=evil * 20,
        cost=Cost(1.0, 5, 10, None),
    )
    text = markdown(summary)
    assert len(text) <= INLINE
    assert len(text.splitlines()) == len(summary.lines()) == 10
    bare = text.replace("\\[", "").replace("\\<", "").replace("\\`", "").replace("\\#", "")
    assert not {"[", "<", "`", "#"} & set(bare)
    assert markdown(replace(summary, champion="a_b")).startswith("- **Leads**: a\\_b")


def test_a_seal_links_to_the_story_before_everything_else():
    key = Line("toys", "").story.key
    shown = Sealed("0002", "v" * 64, {"toys": 1}, False, key).metadata()
    assert next(iter(shown)) == "story" and shown["story"] == dg.MetadataValue.asset(key)
    assert "story" not in Sealed("0001", "v", {}, False).metadata()


def test_the_page_of_a_cycle_has_the_story_its_trend_and_its_gates_without_a_click(lake):
    story = story_of(lake, "solvers", "0002")
    page, found = story_page(lake, Line("solvers", "Solvers."), "0002", "run", lambda _: None)
    assert page["story"] == dg.MetadataValue.md(markdown(story)) and len(page["story"].value) <= INLINE
    gates = [
        (row.data["gate"], row.data["came"], row.data["stopped"], row.data["passed"])
        for row in page["gates"].records
    ]
    assert (
        gates
        == [(gate.name, gate.came, gate.stopped, gate.came - gate.stopped) for gate in story.gates]
        != []
    )
    assert page["survivors"] == dg.MetadataValue.asset(dg.AssetKey(["solvers", "survivors"]))
    assert page["tables"] == dg.MetadataValue.path("tables/solvers")
    assert found.startswith(f"{story.champion}: ") and found == in_a_cell(found) and len(found) <= LONGEST_TAG
    trend = page["trend"].value
    assert trend == picture(story.trend)
    text, _, data = trend.partition(": ![trend](data:image/svg+xml;base64,")
    assert text == "PAR-2 of the champion"
    svg = fromstring(b64decode(data.removesuffix(")")))
    assert [child.text for child in svg if child.tag.endswith("text")] == [
        "2.3 s, cycle 0001",
        "1.15 s, cycle 0002",
    ]
    assert len(svg[0].attrib["points"].split()) == 2
    many = Trend("[x](y) " * 99, [(f"{number:04d}", number * 1234.567) for number in range(999)], " points")
    assert len(picture(many)) <= INLINE and "[x](y)" not in picture(many)
    assert picture(Trend("one", [("0001", 1.0)])) == picture(Trend()) == ""


def test_a_damaged_table_does_not_lose_the_cycle_and_is_told(tmp_path):
    lake, warned = make_lake(tmp_path), []
    part = next(
        path
        for path in tmp_path.rglob("*.parquet")
        if "compliance__verdicts" in str(path) and "0002" in str(path)
    )
    part.write_bytes(part.read_bytes()[:-9] + b"otherwise")
    page, found = story_page(lake, Line("solvers", "Solvers."), "0002", "run", warned.append)
    assert (
        page["story"].value.startswith("The story of cycle 0002 cannot be read: ")
        and "evolake lake verify" in page["story"].value
    )
    assert len(warned) == 1 and "trend" not in page and not found
    unknown, found = story_page(lake, Line("bridges", "Not registered."), "0002", "run", warned.append)
    assert (
        "No installed package registers the line" in unknown["story"].value and not found and len(warned) == 1
    )
