"""The page as people see it: five lines in less than six screens, nothing wider than its screen, all details
folded; on paper no figure is torn."""

from dataclasses import replace

import pytest
from solver_lake import make_lake

from evolake.report.artifacts import Exhibit
from evolake.report.gained import Gained, recorded
from evolake.report.lines import read_sections, read_stories
from evolake.report.pages import page

pytestmark = pytest.mark.browser
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WIDTH, SCREEN, SCREENS = 1280, 1080, 6
PHONE = 390
ACROSS = "() => document.documentElement.scrollWidth"
COLUMNS = (
    "() => Math.min(...[...document.querySelectorAll('dd, section > p, table.lines td:not(.n)')].map(one => "
    "one.getBoundingClientRect().width))"
)
LETTERS = (
    "() => Math.min(...[...document.querySelectorAll('td, dd, p, small, summary')].map(one => "
    "parseFloat(getComputedStyle(one).fontSize)))"
)
LINES = ("one", "two", "three", "four", "five")
SENTENCE = (
    "the best of the ranking did not take the title: 1.9 times fewer steps in the duel at N=160, and to "
    "win it takes more than 2.13, the noise"
)
FOLDED = (
    "() => [...document.querySelectorAll('details')].filter(one => !one.open && "
    "one.getBoundingClientRect().height > 0).length"
)
BREAKS = (
    "() => [...new Set([...document.querySelectorAll('figure, article')].map(one => "
    "getComputedStyle(one).breakInside))]"
)


def test_five_lines_fit_on_six_screens_and_print_without_what_is_folded(tmp_path, requires):
    chromium = requires("chromium")
    from playwright.sync_api import sync_playwright

    root = make_lake(tmp_path / "lake").root
    [section], [story] = read_sections(root, ["solvers"]), read_stories(root, {"solvers": "0002"})
    summary = replace(
        story,
        duel=SENTENCE,
        champion="restart-modes(growth=1.154, length=10885, stretch=14)",
        measured=SENTENCE,
        look=SENTENCE,
    )
    text = page(
        [replace(section, line=line) for line in LINES],
        [replace(summary, line=line) for line in LINES],
        gains=[
            Gained("one", SENTENCE, exhibit=Exhibit(texts={"a question": 9 * SENTENCE})),
            *(Gained(line, known.sentence, known) for line, known in recorded().items()),
        ],
    )
    (tmp_path / "page.html").write_text(text)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        shown = browser.new_page(viewport={"width": WIDTH, "height": SCREEN})
        shown.goto((tmp_path / "page.html").as_uri())
        size = shown.evaluate(
            "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        folded = shown.evaluate(FOLDED)
        narrow = browser.new_page(viewport={"width": PHONE, "height": SCREEN})
        narrow.goto((tmp_path / "page.html").as_uri())
        narrow.evaluate("() => { document.querySelector('details').open = true }")
        on_a_phone, columns, letters = (narrow.evaluate(asked) for asked in (ACROSS, COLUMNS, LETTERS))
        shown.emulate_media(media="print")
        printed, breaks = shown.evaluate(FOLDED), shown.evaluate(BREAKS)
        browser.close()
    assert size[0] <= WIDTH
    assert SCREEN < size[1] <= SCREENS * SCREEN
    assert on_a_phone <= PHONE
    assert columns > PHONE / 2  # a sentence has more than half of the screen
    assert letters >= 12
    assert folded == text.count("<details>") > 50
    assert printed == 0
    assert breaks == ["avoid"]
    assert "<script" not in text and "http" not in text.replace("http://www.w3.org", "")
