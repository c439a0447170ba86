"""A person backfills three cycles of a line in the Dagster UI and waits until everything is green. Screenshots stay in test-artifacts/."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from toy_location.site import LOCATION, ROOT, Site, running_site

pytestmark = [pytest.mark.e2e, pytest.mark.browser]
ARTIFACTS = ROOT / "test-artifacts"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    with running_site(tmp_path / "site") as site:
        assert site.evolve("gated", 0)["verdict"] == "sealed"
        site.start()
        assert site.launch_job("register_cycles", {"ops": {"add_cycle_keys": {"config": {"how_many": 5}}}}).status == "SUCCESS"
        yield site


def test_a_range_of_cycles_is_picked_launched_and_turns_green(site: Site, requires: Callable[[str], str]):
    chromium = requires("chromium")
    from playwright.sync_api import expect, sync_playwright

    ARTIFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.set_default_timeout(60_000)
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
        expect(page.get_by_text("60% filled")).to_have_count(2, timeout=60_000)
        expect(page.get_by_text("80% filled")).to_have_count(1)
        page.screenshot(path=ARTIFACTS / "backfill-3-group.png")
        browser.close()
    assert [(run.cycle, run.status) for run in runs] == [("0001", "SUCCESS"), ("0002", "SUCCESS"), ("0003", "SUCCESS")]
    assert site.members("gated", "0004") == ["seed>0001>0002>0003"]
