"""`evolake report --open`: the page is handed to the browser, and is kept where there is none."""

import os
from pathlib import Path

import pytest
from commands import evolake_apart
from lake_damage import toy_lake


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    }
    return kept | {"EVOLAKE_LAKE": str(toy_lake(tmp_path)), "TMPDIR": str(tmp_path)}


def test_the_browser_gets_the_page(tmp_path, environment):
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    [done] = evolake_apart(environment | {"BROWSER": f"{browser} %s"}, ["report", "--open"])
    assert (done.returncode, done.stderr) == (0, "")
    page = Path(opened.read_text().removeprefix("file://"))
    assert done.stdout.splitlines()[0] == f"report of cycle 0003: {page}"
    assert page.parent.parent == tmp_path and "<!doctype html>" in page.read_text().lower()


def test_without_a_display_the_page_is_written_and_the_command_says_where(tmp_path, environment):
    named, unnamed = evolake_apart(
        environment, ["report", "--open", "--out", str(tmp_path / "report.html")], ["report", "--open"]
    )
    assert (named.returncode, named.stderr) == (unnamed.returncode, unnamed.stderr) == (0, "")
    page = Path(unnamed.stdout.splitlines()[0].removeprefix("report of cycle 0003: "))
    for done, written in ((named, tmp_path / "report.html"), (unnamed, page)):
        assert f"not opened: there is no display; copy {written} to a machine with a browser" in done.stdout
        assert "ordered" in written.read_text()


def test_a_browser_that_does_not_start_leaves_the_page_and_is_no_failure(tmp_path, environment):
    [done] = evolake_apart(
        environment | {"BROWSER": str(tmp_path / "nowhere")},
        ["report", "--open", "--out", str(tmp_path / "report.html")],
    )
    assert (done.returncode, "not opened: no browser was found" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    assert (tmp_path / "report.html").is_file()
