"""Check the words of everything that is read: README, docs/, help, titles of the cookbook, the report,
docstrings, messages. `make lint` and `make docs` run it, and so do tests.

`words.toml` next to this file lists the words with their replacements, the exceptions, and how many hits the
docstrings and the messages of a package may still have. Messages are the sentences in code: errors, output,
metadata, descriptions of tables, columns, checks and settings. `python docs/generate/words.py` prints the
words per sentence of each page, then every hit; exit code 1 if there is one. With `--lower` it also writes
the present numbers into `words.toml` if they are smaller.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("words.toml")
CODE = re.compile(
    r"```.*?```|`[^`\n]*(?:\n(?!\s*\n)[^`\n]*)?`|(?<=\])\([^)\s]*\)|<https?://[^>]*>|https?://\S+", re.DOTALL
)
"""What is no prose inside a paragraph: fenced blocks, code, targets of links, addresses."""
MARKUP = re.compile(r"\{[%#{].*?[%#}]\}|<[^>]*>", re.DOTALL)
"""What is no prose in a template of the report."""
EXAMPLE = re.compile(r"(?m)^ *evolake .*$")
"""A command on its own line of a help text or a docstring."""


class Hit(NamedTuple):
    """A word that has a replacement: its place, the word as found, and what to write instead."""

    place: str
    word: str
    instead: str


def table() -> dict:
    """Return the content of `words.toml`.

    Raises:
        OSError, tomllib.TOMLDecodeError: the file cannot be read.
    """
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def pages() -> list[str]:
    """Return the paths of all pages from the root, sorted; pages that docs/generate/ writes are no files."""
    others = (
        "CONTRIBUTING.md",
        "examples/README.md",
        "deploy/project/README.md",
        "data_lake/seeds/families/README.md",
    )
    return [
        "README.md",
        *others,
        *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")),
    ]


def prose(text: str) -> str:
    """Return a page's text with every code block, piece of code and link target blanked; line numbers stay as
    they are."""
    lines, inside, blank, in_list = [], False, True, False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        if inside or fence:
            inside ^= fence
            lines.append("")
            continue
        indented = line.startswith("    ")
        if line and not line.startswith(" "):
            in_list = bool(re.match(r"[-*] |\d+\. ", line))
        is_code = indented and blank and not in_list
        lines.append("" if is_code else line)
        blank = not line.strip() or is_code
    return CODE.sub(lambda found: "\n" * found[0].count("\n"), "\n".join(lines))


def hits(place: str, text: str, words: dict[str, str]) -> Iterator[Hit]:
    """Yield the words of a text that have a replacement, in their order; `place` gets the line's number."""
    for found in searched(tuple(words)).finditer(text):
        instead = [*words.values()][int(str(found.lastgroup).removeprefix("word_"))]
        yield Hit(f"{place}:{text.count(chr(10), 0, found.start()) + 1}", " ".join(found[0].split()), instead)


@cache
def searched(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return one expression for all words, group `word_3` for the fourth; a blank of a pattern may be the end
    of a line."""
    groups = (f"(?P<word_{place}>{pattern})".replace(" ", r"\s+") for place, pattern in enumerate(patterns))
    return re.compile(rf"\b(?:{'|'.join(groups)})\b", re.IGNORECASE)


def page_hits(listed: dict) -> list[Hit]:
    """Return the hits of README and docs/."""
    names = re.compile("|".join(map(re.escape, listed["pages"]["names"])))
    texts = {page: names.sub("", prose((ROOT / page).read_text(encoding="utf-8"))) for page in pages()}
    return [hit for page, text in texts.items() for hit in hits(page, text, listed["words"])]


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield of every command, hidden ones left out: its words as typed, and its help with that of its
    options."""
    import click

    from evolake.cli import cli

    def below(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
        options = [
            parameter.help or "" for parameter in command.params if isinstance(parameter, click.Option)
        ]
        yield path, "\n".join([command.help or "", command.short_help or "", *options])
        if isinstance(command, click.Group):
            with click.Context(command) as context:
                found = [
                    (name, command.get_command(context, name)) for name in command.list_commands(context)
                ]
            for name, one in found:
                if one is not None and not one.hidden:
                    yield from below(one, f"{path} {name}")

    yield from below(cli, "evolake")


def help_hits(listed: dict) -> list[Hit]:
    """Return the hits of all help texts."""
    return [
        hit
        for command, text in help_texts()
        for hit in hits(f"{command} --help", EXAMPLE.sub("", CODE.sub("", text)), listed["words"])
    ]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each docstring of a Python file.

    Raises:
        SyntaxError: the file is no Python.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node, clean=False)
        ):
            yield node.body[0].lineno, text


def docstring_hits(listed: dict) -> dict[str, list[Hit]]:
    """Return package (`evolake.lake`, `assets.designs`) -> hits of its docstrings; templates, whose bytes are
    identities, are left out, and so are the files that `words.toml` lists as such."""
    passed = re.compile("|".join(listed["docstrings_left_out"]["identities"]))
    found: dict[str, list[Hit]] = {}
    for path in sorted(path for package in ("evolake", "assets") for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        if passed.search(path.relative_to(ROOT).as_posix()):
            continue
        package = ".".join(parts[:2]) if len(parts) > 2 else parts[0]
        for line, text in docstrings(path):
            blanked = CODE.sub(lambda code: "\n" * code[0].count("\n"), EXAMPLE.sub("", text))
            one = [
                hit._replace(place=f"{path.relative_to(ROOT)}:{line}")
                for hit in hits("", blanked, listed["words"])
            ]
            found.setdefault(package, []).extend(one)
    return found


def title_hits(listed: dict) -> list[Hit]:
    """Return the hits of comments in SQL: the titles of questions in the cookbooks, and what views and macros
    are."""
    found = []
    for path in sorted(path for folder in ("sql", "evolake") for path in (ROOT / folder).rglob("*.sql")):
        comments = [
            line.removeprefix("--") if line.startswith("--") else ""
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        found += hits(str(path.relative_to(ROOT)), CODE.sub("", "\n".join(comments)), listed["words"])
    return found


def template_hits(listed: dict) -> list[Hit]:
    """Return the hits of the texts of report templates, without markup and expressions."""
    found = []
    for path in sorted((ROOT / "evolake").rglob("*.j2")):
        text = MARKUP.sub(lambda mark: "\n" * mark[0].count("\n"), path.read_text(encoding="utf-8"))
        found += hits(str(path.relative_to(ROOT)), text, listed["words"])
    return found


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each string of a Python file that has a blank; not docstrings, and not
    SQL.

    A formatted string is one text with `{}` for its values.

    Raises:
        SyntaxError: the file is no Python.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            text = node.value
        else:
            continue
        if " " in text and "SELECT " not in text:
            yield node.lineno, text


def message_hits(listed: dict) -> dict[str, list[Hit]]:
    """Return package -> hits of its sentences in code. `tables` has those of all modules that define tables,
    whichever package they are in."""
    passed = re.compile("|".join(listed["texts"]["identities"]))
    found: dict[str, list[Hit]] = {}
    for path in sorted(
        path
        for package in ("evolake", "assets", "pipelines", "resources")
        for path in (ROOT / package).rglob("*.py")
    ):
        place = path.relative_to(ROOT).as_posix()
        if passed.search(place):
            continue
        parts = place.split("/")
        package = ".".join(parts[:2]) if len(parts) > 2 else parts[0]
        package = "tables" if re.search(r"/(?:tables\w*|schemas|vocabulary)\.py$", place) else package
        for line, text in sentences(path):
            one = hits("", CODE.sub("", text), listed["words"])
            found.setdefault(package, []).extend(hit._replace(place=f"{place}:{line}") for hit in one)
    return found


def over_budget(found: dict[str, list[Hit]], allowed: dict[str, int], what: str = "docstrings") -> list[str]:
    """Return a line for each package with more hits than `words.toml` allows, with the places of all of them.
    what: the texts that were read."""
    return [
        f"{package}: {len(listed)} hits in {what}, at most {allowed.get(package, 0)} are allowed:\n  "
        + "\n  ".join(f"{hit.place}: {hit.word!r}: write {hit.instead}" for hit in listed)
        for package, listed in found.items()
        if len(listed) > allowed.get(package, 0)
    ]


def words_per_sentence(text: str) -> float:
    """Return the mean number of words of a page's sentences, tables, headings, pictures and code left out;
    NaN if it has none."""
    kept = [line for line in prose(text).splitlines() if not line.startswith(("|", "#", "!", ">"))]
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(kept))
    sentences = (one for paragraph in paragraphs for one in re.split(r"(?<=[.!?:])\s+", paragraph))
    counts = [number for one in sentences if (number := len(re.findall(r"\w[\w'-]*", one))) > 1]
    return sum(counts) / len(counts) if counts else float("nan")


def misspelt(listed: dict) -> list[str]:
    """Return what codespell finds in README, docs/ and the packages, one line each.

    Raises:
        FileNotFoundError: codespell is not installed (`make test` installs it).
        RuntimeError: codespell did not run.
    """
    command = [
        str(Path(sysconfig.get_path("scripts")) / "codespell"),
        "--ignore-words-list",
        ",".join(listed["codespell"]["ignore"]),
        "README.md",
        "CONTRIBUTING.md",
        "docs",
        "evolake",
        "assets",
        "pipelines",
        "resources",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 65) or done.stderr:
        raise RuntimeError(f"codespell ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def lowered(text: str, found: dict[str, list[Hit]], section: str = "docstrings") -> str:
    """Return the text of `words.toml` with each package's number in a section as it is now, if that is
    smaller."""
    before, head, after = text.partition(f"[{section}]\n")
    own, following, rest = after.partition("\n[")
    for package, listed in found.items():
        own = re.sub(
            rf'(?m)^("{re.escape(package)}" = )(\d+)$',
            lambda line, now=len(listed): f"{line[1]}{min(now, int(line[2]))}",
            own,
        )
    return before + head + own + following + rest


def report(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        print(line)


def main() -> int:
    """Print the score of each page and every hit. Return 1 if there is a hit, else 0."""
    listed = table()
    scores = {page: words_per_sentence((ROOT / page).read_text(encoding="utf-8")) for page in pages()}
    report(
        f"{score:5.1f} words per sentence: {page}"
        for page, score in sorted(scores.items(), key=lambda item: -item[1])
    )
    found, said = docstring_hits(listed), message_hits(listed)
    if "--lower" in sys.argv:
        text = lowered(TABLE.read_text(encoding="utf-8"), found)
        TABLE.write_text(lowered(text, said, "messages"), encoding="utf-8")
    none_allowed = page_hits(listed) + help_hits(listed) + title_hits(listed) + template_hits(listed)
    if "--count" in sys.argv:
        report(
            f"{number:5} {word}"
            for word, number in Counter(hit.word.lower() for hit in none_allowed).most_common()
        )
    problems = [f"{hit.place}: {hit.word!r}: write {hit.instead}" for hit in none_allowed]
    problems += [
        *over_budget(found, listed["docstrings"]),
        *over_budget(said, listed["messages"], "messages"),
        *misspelt(listed),
    ]
    report(problems)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
