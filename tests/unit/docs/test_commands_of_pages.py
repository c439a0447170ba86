"""Every page says first what its reader gets. Every command of every page exists with its options, and a test
types it or a reason is given here."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from evolake.cli import cli

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGE_IDS = [page.relative_to(ROOT).as_posix() for page in PAGES]
NOT_TYPED: dict[tuple[str, ...], str] = {}
"""Words of a command that no test types -> why."""
OTHERS = {
    "make test": "CI runs it",
    "make install": "`make test` does it first",
    "make policy": "`make test` installs the same",
    "python mine": "tests/integration/prompts/test_adapter_taken_home.py runs the script",
    "uv venv": "tried by hand: it needs another installer and an index",
    "uv pip": "tried by hand: it needs another installer and an index",
    "cd ..": "to the folder of an older commit, see git worktree",
    "git worktree": "an older script, of a commit that the line names",
    "python formulas.py": "tests/integration/test_tutorials.py runs it",
    "make demo": "takes minutes; tests type its commands (run, solvers tune, repair run, report, status)",
    "pip wheel": "tests/e2e/test_installed_package.py builds a wheel",
    "pip install": "tests/e2e/test_installed_package.py installs the wheel",
    "dagster dev": "tests/e2e/test_make_dev.py starts it by `make dev`",
    "docker compose": (
        "needs Docker; tests/toy_location/composed.py starts each service of the file as a process, by "
        "its command and environment"
    ),
    "dg check": "tests/e2e/test_dg.py",
    "dg dev": "tests/e2e/test_dg.py",
    "dg launch": "tests/e2e/test_dg.py",
    "dg list": "tests/e2e/test_dg.py",
    "dg scaffold": "tests/e2e/test_dg.py",
    "dask scheduler": "tests/compute_cluster.py starts one",
    "dask worker": "tests/compute_cluster.py starts some",
    "python3 -m": "makes an environment for vLLM, which needs a card",
    "vllm serve": "needs a card",
    "cd mine": "a step into a folder",
    "cd primers": "a step into a folder",
    "cd my-project": "a step into a folder",
    "python benchmarks": "a measurement, of minutes to hours; the file is checked here",
}
"""First two words of other commands -> where they run, or why they do not."""
SHELL = re.compile(
    r"^(?:make|pip|python3?|dagster|dg|docker|dask|cd|\S*/vllm|\S*/pip|uv|curl|git|kubectl|helm)$"
)


def lines_of_code(page: Path) -> Iterator[str]:
    """Yield the lines of a page's blocks of code; one that ends in a backslash together with the next."""
    inside, kept = False, ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif inside or line.startswith("    "):
            kept += line.strip()
            if kept.endswith("\\"):
                kept = kept[:-1]
            else:
                yield re.split(r" +#(?: |$)", kept)[0].removeprefix("$ ")
                kept = ""


def commands_in(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line of a shell, without settings before it."""
    for part in re.split(r" && |; ", line):
        words = (
            shlex.split(part, comments=False)
            if part.count("'") % 2 == 0 and part.count('"') % 2 == 0
            else part.split()
        )
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0], re.DOTALL):
            words = words[1:]
        if words:
            yield words


def typed_on(page: Path) -> Iterator[list[str]]:
    """Yield the words after `evolake` of each command of a page, in blocks of code and in the text."""
    for line in lines_of_code(page):
        if re.match(r"(?:[A-Z_]+=\S+ +)*(?:\.venv/bin/)?evolake ", line):
            yield from (words[1:] for words in commands_in(line) if words[0].endswith("evolake"))
    for found in re.findall(r"`(?:\.venv/bin/)?evolake ([^`]+)`", page.read_text(encoding="utf-8")):
        yield shlex.split(" ".join(found.split()).replace("'", ""))


def named(words: list[str]) -> tuple[click.Command, tuple[str, ...], list[str]]:
    """Return the command that words name, its words, and what follows them."""
    command: click.Command = cli
    path: tuple[str, ...] = ()
    while isinstance(command, click.Group) and words:
        with click.Context(command) as context:
            below = command.get_command(context, words[0])
        assert below is not None or words[0].startswith(("-", "...")), (
            f"there is no command evolake {' '.join((*path, words[0]))}"
        )
        if below is None:
            break
        command, path, words = below, (*path, words[0]), words[1:]
    return command, path, words


@cache
def sources() -> str:
    """Return all tests that run commands, those of this folder and of the help texts left out, and the pages
    that tests type word by word."""
    files = [
        path
        for path in sorted((ROOT / "tests").rglob("*"))
        if path.suffix in (".py", ".txt") and "unit/docs" not in path.as_posix()
    ]
    pages = sorted((ROOT / "docs" / "contracts").glob("*.md"))
    return "\n".join(
        path.read_text(encoding="utf-8") for path in [*files, *pages] if path.name != "test_helps.py"
    )


def typed_as(path: tuple[str, ...]) -> str:
    """Return an expression for a command in a test: as words of a list, or in one text."""
    if len(path) == 1:
        return rf"""["'(\[]{path[0]}["']|evolake {path[0]}\b|\| {path[0]}\b"""
    return r"\W+".join(map(re.escape, path))


@pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)
def test_the_first_paragraph_says_what_the_reader_gets(page):
    first = page.read_text(encoding="utf-8").split("\n\n")[1]
    if page.name != "README.md":
        assert re.match(
            r"(?:A Dagster project [^.]+\. )?(?:This page|After this tutorial)\b", " ".join(first.split())
        ), first


@pytest.mark.parametrize("page", PAGES, ids=PAGE_IDS)
def test_every_command_of_a_page_exists_with_its_options(page):
    for words in typed_on(page):
        command, path, rest = named(list(words))
        known = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        } | {"--help", "--version"}
        given = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
        assert [word for word in given if word not in known] == [], f"evolake {' '.join(path)}"


def test_a_test_types_every_command_of_the_pages():
    found = [named(words) for page in PAGES for words in typed_on(page)]
    shown = {path for command, path, _ in found if not isinstance(command, click.Group)}
    assert len(shown) > 50
    missing = {path for path in shown if not re.search(typed_as(path), sources())}
    assert missing == set(NOT_TYPED)


def test_every_other_command_of_the_pages_runs_somewhere_or_has_a_reason():
    found = set()
    for page in PAGES:
        for line in lines_of_code(page):
            for words in commands_in(line):
                if SHELL.match(words[0]):
                    name, second = words[0].rpartition("/")[2], words[1].partition("/")[0]
                    assert second != "benchmarks" or "git worktree" in line or (ROOT / words[1]).is_file()
                    found.add(f"{name} {second}")
    assert found == set(OTHERS)
