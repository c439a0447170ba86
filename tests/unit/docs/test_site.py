"""The documentation site is built whole: every link and anchor leads somewhere, and what is written from the
code says all there is."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evolake.cli.sql import all_tables
from evolake.lines import lines

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    return folder


class Headings(HTMLParser):
    """The ids of a page's headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "h2":
            self.ids.append(dict(attrs).get("id") or "")


def headings(page: Path) -> list[str]:
    return Headings(page.read_text()).ids


def test_every_line_has_its_settings_rules_and_tables(site):
    settings = headings(site / "reference" / "settings.html")
    assert settings == ["all-lines", *(spec.name for spec in lines().values() if spec.settings)]
    tables = headings(site / "reference" / "tables.html")
    assert {f"{line}{asset}" for line, asset in all_tables()} <= set(tables)


def test_every_setting_says_what_it_means():
    sys.path.insert(0, str(ROOT / "docs" / "generate"))
    try:
        from settings_page import fields

        from evolake.settings import settings_type

        assert [path for path, field in fields(settings_type()) if not field.description] == []
    finally:
        sys.path.pop(0)


def test_each_table_has_a_suite_or_stands_in_the_list_of_those_without(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generate"))
    from checks_page import checks_page

    _, page = checks_page().split("\n## Tables without a suite\n")
    bare, *suites = page.split("\n## ")
    cells = [[cell.strip() for cell in row.split("|")] for row in bare.splitlines() if row.startswith("| `")]
    listed = {(row[1].strip("`"), name.strip("`")) for row in cells for name in row[2].split(", ")}
    judged = {
        (section.partition("\n")[0], row.split("|")[1].strip(" `"))
        for section in suites
        for row in section.splitlines()
        if row.startswith("| `")
    }
    assert len(judged) > 40 and not listed & judged
    assert listed | judged >= all_tables().keys()


def test_the_site_loads_nothing_from_elsewhere(site):
    pages = [*site.rglob("*.html")]
    assert len(pages) > 10
    loading = ('src="http', "src='http", '<link rel="stylesheet" href="http')
    outside = [(page.name, part) for page in pages for part in loading if part in page.read_text()]
    assert outside == []
