"""The two pictures of README, by headless Chromium: `python docs/generate/readme_pictures.py REPORT URL`.

REPORT: `demo/report.html` after `make demo`. URL: of Dagster's UI on the same lake (`make dev`).
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parents[2] / ".github" / "images"
STORY = "/assets/programs/story?view=partitions&partition=0003"


def main(report: str, url: str) -> None:
    """Write report.png and ui.png."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=["--no-sandbox"])
        for name, address, shown, size in (
            ("report", Path(report).resolve().as_uri(), "What was gained", (1160, 1130)),
            ("ui", f"{url}{STORY}", "Gain", (1500, 860)),
        ):
            page = browser.new_page(viewport={"width": size[0], "height": size[1]})
            page.goto(address)
            page.get_by_text(shown).first.wait_for(timeout=120_000)
            page.wait_for_timeout(3000)  # the UI moves as it loads
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
