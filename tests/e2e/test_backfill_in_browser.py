"""A person backfills three cycles of a line in the Dagster UI and waits until everything is green.
Screenshots stay in test-artifacts/."""

import itertools
from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest
from solver_lake import make_lake
from toy_location.site import LOCATION, ROOT, Site, running_site

from assets.line import Line, register_keys
from assets.story import story_page
from pipelines.cycles import forget

pytestmark = [pytest.mark.e2e, pytest.mark.browser]
ARTIFACTS = ROOT / "test-artifacts"
PATIENCE_MS = 60_000
"""How long the browser may take to show something: a busy machine takes more than the 5 s of the default."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("clicked") / "site") as site:
        assert site.evolve("gated", 0)["verdict"] == "sealed"
        site.start()
        assert (
            site.launch_job(
                "register_cycles", {"ops": {"add_cycle_keys": {"config": {"how_many": 5, "line": "gated"}}}}
            ).status
            == "SUCCESS"
        )
        yield site


def test_a_range_of_cycles_is_picked_launched_and_turns_green(site, requires):
    chromium = requires("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)

    ARTIFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{site.url}/locations/__repository__@{LOCATION}/asset-groups/gated")
        page.get_by_role("button", name="Materialize all (2)").click()
        page.get_by_text("Select a partition or create one").click()
        for cycle in ("0001", "0002", "0003"):
            page.get_by_role("menuitem").filter(has_text=cycle).click()
        page.keyboard.press("Escape")
        expect(page.get_by_text("3 partitions")).to_be_visible()
        page.screenshot(path=ARTIFACTS / "backfill-1-picked.png")
        page.get_by_role("button", name="Launch backfill").click()
        page.locator("a[href^='/runs/b/']").click()
        page.wait_for_url("**/runs/b/**")
        backfill = page.url.rpartition("/b/")[2].partition("?")[0]
        runs = site.finished(backfill, 120)
        page.reload()
        expect(page.get_by_text("100% completed")).to_have_count(2, timeout=60_000)
        expect(page.get_by_text("Succeeded", exact=True).first).to_be_visible()
        page.screenshot(path=ARTIFACTS / "backfill-2-green.png")
        page.goto(f"{site.url}/locations/__repository__@{LOCATION}/asset-groups/gated")
        expect(page.get_by_text("60% filled")).to_have_count(3, timeout=60_000)
        expect(page.get_by_text("80% filled")).to_have_count(1)
        page.screenshot(path=ARTIFACTS / "backfill-3-group.png")
        browser.close()
    assert [(run.cycle, run.status) for run in runs] == [
        ("0001", "SUCCESS"),
        ("0002", "SUCCESS"),
        ("0003", "SUCCESS"),
    ]
    assert site.members("gated", "0004") == ["seed>0001>0002>0003"]


def test_the_first_backfill_of_two_fresh_lines_is_green_in_order(site, requires):
    """Nobody has run these lines before, so that the daemon sees their pools for the first time."""
    chromium = requires("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    ARTIFACTS.mkdir(exist_ok=True)
    backfills: dict[str, str] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.set_default_timeout(PATIENCE_MS)
        for line in ("ordered", "changed"):
            keys = {"ops": {"add_cycle_keys": {"config": {"how_many": 4, "line": line}}}}
            assert site.launch_job("register_cycles", keys).status == "SUCCESS"
        for line in ("ordered", "changed"):
            page.goto(f"{site.url}/locations/__repository__@{LOCATION}/asset-groups/{line}")
            page.get_by_role("button", name="Materialize all (2)").click()
            page.get_by_text("Select a partition or create one").click()
            page.get_by_role("menuitem").filter(has_text="All").first.click()
            page.keyboard.press("Escape")
            expect(page.locator("span").filter(has_text="4 partitions")).to_be_visible()
            page.screenshot(path=ARTIFACTS / f"first-backfill-{line}.png")
            page.get_by_role("button", name="Launch backfill").click()
            page.locator("a[href^='/runs/b/']").click()
            page.wait_for_url("**/runs/b/**")
            backfills[line] = page.url.rpartition("/b/")[2].partition("?")[0]
        browser.close()
    for line, backfill in backfills.items():
        runs = site.finished(backfill, 240)
        assert [(run.cycle, run.status) for run in runs] == [(f"000{n}", "SUCCESS") for n in (1, 2, 3, 4)], (
            line
        )
        assert all(run.ended <= after.started for run, after in itertools.pairwise(runs))
        assert site.members(line, "0005") == ["seed>0001>0002>0003>0004"]


CLIPPED = """() => [...document.querySelectorAll("table")].filter(
    table => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1).length"""
"""How many tables of the page are wider than the space that they have."""


def test_a_person_comes_from_the_group_to_the_page_of_a_cycle_and_nothing_on_it_is_cut_off(
    site, requires, tmp_path
):
    chromium = requires("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)

    line = Line("gated", "")
    assert site.lake.seals.cycles("gated")[-1] == "0004"
    # as much as a page can hold: that of a cycle of solvers, in the place of the next cycle's
    page_of_solvers, found = story_page(
        make_lake(tmp_path), Line("solvers", ""), "0002", "a" * 36, lambda _: None
    )
    assert found
    with sync_playwright() as playwright, dg.DagsterInstance.from_config(str(site.home)) as instance:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 1400})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{site.url}/locations/__repository__@{LOCATION}/asset-groups/gated/list")
        page.get_by_role("link", name="story").first.click()
        expect(page.get_by_text("What each cycle found")).to_be_visible()
        expect(page.get_by_text("No installed package registers the line")).to_be_visible()
        instance.report_runless_asset_event(
            dg.AssetMaterialization(line.story.key, partition="0004", metadata=page_of_solvers)
        )
        for name, where in (("overview", ""), ("partition", "?view=partitions&partition=0004")):
            page.goto(f"{site.url}/assets/gated/story{where}")
            expect(page.get_by_text("Proposed:")).to_be_visible()
            expect(page.get_by_role("img", name="trend")).to_be_visible()
            expect(page.get_by_text("tables/solvers")).to_be_visible()
            page.screenshot(path=ARTIFACTS / f"story-{name}.png", full_page=True)
            assert (name, page.evaluate(CLIPPED)) == (name, 0)
        page.goto(f"{site.url}/assets/gated/candidates")
        expect(page.get_by_role("link", name="gated / story")).to_be_visible()
        browser.close()


STATS = """{ assetNodeOrError(assetKey: {path: ["left", "candidates"]}) { ... on AssetNode {
    partitionKeys partitionStats { numMaterialized numFailed numPartitions } } } }"""


def stats(site: Site) -> dict[str, Any]:
    """Partitions of an asset of the line `left`, as the UI counts them."""
    return site.ask(STATS)["assetNodeOrError"]


def test_the_first_click_of_a_fresh_line_makes_its_seeds_and_a_mistyped_cycle_does_not_stay_red(
    site, requires
):
    chromium = requires("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)

    ARTIFACTS.mkdir(exist_ok=True)
    site.wait("the sensor to register the first cycle", lambda: stats(site)["partitionKeys"] == ["0001"], 120)
    group = f"{site.url}/locations/__repository__@{LOCATION}/asset-groups/left"
    with sync_playwright() as playwright, dg.DagsterInstance.from_config(str(site.home)) as instance:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(group)
        page.get_by_role("button", name="Materialize all (2)").click()
        page.get_by_text("Select a partition or create one").click()
        page.get_by_role("menuitem").filter(has_text="0001").click()
        page.keyboard.press("Escape")
        page.screenshot(path=ARTIFACTS / "first-click-1-picked.png")
        page.get_by_role("button", name="Launch").last.click()
        site.wait("the first cycle", lambda: "0002" in stats(site)["partitionKeys"], 120)
        jobs = {
            run.job_name: run.status.value
            for run in instance.get_runs()
            if run.tags.get("evolake/line") == "left"
        }
        assert jobs["left_seeds"] == "SUCCESS" and site.members("left", "0002") == ["seed>0001"]

        register_keys(instance, "left", ["0030"])
        [failed] = site.finished(site.backfill("left", ["0030"]))
        assert failed.status == "FAILURE" and "evolake cycles forget 0030 --line left" in site.failure(
            failed.run_id
        )
        assert stats(site)["partitionStats"]["numFailed"] == 1
        page.goto(group)
        expect(page.get_by_text("1 failed").first.or_(page.get_by_text("Failed").first)).to_be_visible()
        page.screenshot(path=ARTIFACTS / "first-click-2-mistyped.png")
        assert forget(instance, site.lake, [Line("left", "")], "0030") == ["left"]
        counted = {"numMaterialized": 1, "numFailed": 0, "numPartitions": 2}
        site.wait("the failure to be gone", lambda: stats(site)["partitionStats"] == counted, 30)
        page.goto(group)
        expect(page.get_by_text("50% filled")).to_have_count(3, timeout=60_000)
        page.screenshot(path=ARTIFACTS / "first-click-3-forgotten.png")
        browser.close()


def test_a_cycle_is_launched_in_the_launchpad_with_a_seed_of_its_own(site, requires):
    chromium = requires("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)

    with sync_playwright() as playwright, dg.DagsterInstance.from_config(str(site.home)) as instance:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{site.url}/locations/__repository__@{LOCATION}/asset-groups/left")
        page.get_by_role("button", name="Materialize all (2)").click(modifiers=["Shift"])
        editor = page.locator(".CodeMirror").filter(has_text="resources")
        expect(editor).to_contain_text("workers: 2")  # the settings of the code server
        expect(editor).to_contain_text("seed: 0")
        editor.click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text("resources:\n  settings:\n    config:\n      seed: 7\n")
        page.get_by_placeholder("Partition").fill("0002")
        page.keyboard.press("Enter")
        expect(page.get_by_text("No errors")).to_be_visible()
        page.screenshot(path=ARTIFACTS / "launchpad.png")
        page.locator("button:visible").filter(has_text="Materialize").last.click()
        site.wait("the second cycle", lambda: site.lake.seals.read("left", "0003") is not None, 120)
        browser.close()
        run, *_ = instance.get_runs()  # the newest comes first
    assert run.tags["evolake/seed"] == "7"
    assert run.run_config["resources"]["settings"]["config"] == {"seed": 7}
