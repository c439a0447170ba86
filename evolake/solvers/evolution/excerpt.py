"""What planner and coder see of a variant's sources: an outline, whole functions, and never a document that
holds results.

Code is never cut: what is shown are whole functions and whole lines between them, within a bound, and what
the bound leaves out is named. Only files under the adapter's editable globs are shown: RESULTS.md, which the
pipeline writes after evaluation, is not one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.solvers.repository.unified_diff import FileDiff, parse_diff
from evolake.solvers.roles.models import Excerpt, Region, SourceFile
from evolake.solvers.rules.syntax import function_lines

MAX_REGIONS = 8
MAX_LINES = 250
MAX_FILES = 120
MAX_FUNCTIONS = 80
LARGE = 80
LONGEST_PART, LONGEST_SHOWN = 10_000, 24_000
"""Characters of one excerpt, and of all: below what a prompt's part and block may have."""
SMALL_SOURCES = 16_000
"""Characters of all sources up to which a coder is shown them whole: a question which to show would cost as
much."""
LONGEST_NAMED_FILE = 12_000
"""Characters of a file up to which it is shown whole where a plan names its path."""
PER_LINE = 7
"""Characters that a prompt adds to a line, at most."""
HIDDEN = ("RESULTS.md", "HYPOTHESIS.md", "CHANGELOG.md")
_FUNCTION = re.compile(r"^[A-Za-z_][\w:<>,&*~ \t]*?\b([A-Za-z_]\w*(?:::~?\w+)?)\s*\([^;]*$")
_IDENTIFIERS = re.compile(
    r"\b[A-Za-z_]\w*(?:::~?\w+)+|\b[a-z]+(?:[A-Z_]\w*)+|\b[A-Za-z_]\w*(?=\()|(?<=`)[A-Za-z_]\w*(?=`)"
)
"""Names that a text means as code: qualified, in camel case or with an underscore, before a parenthesis, or
in backticks."""
_TOP_COMMENT = re.compile(r"\s*/\*.*?\*/\s*", re.DOTALL)
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "else", "do"}


def visible_files(folder: Path, adapter: Any) -> dict[str, str]:
    """Return text of the files that may be edited, by path relative to the variant; those that are not UTF-8
    are read as Latin-1."""
    result = {}
    for pattern in (*adapter.editable, *getattr(adapter, "build_files", ())):
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.is_symlink() and path.name not in HIDDEN:
                result[path.relative_to(folder).as_posix()] = _text(path.read_bytes())
    return dict(sorted(result.items()))


def outline(files: Mapping[str, str]) -> list[SourceFile]:
    """Return one line per file; for the larger ones also where functions begin. The longest files are kept if
    there are too many."""
    items = []
    for path, text in files.items():
        lines = text.splitlines()
        items.append(
            SourceFile(
                path=path, lines=len(lines), functions=_functions(lines) if len(lines) >= LARGE else []
            )
        )
    longest = sorted(items, key=lambda item: (-item.lines, item.path))[:MAX_FILES]
    return sorted(longest, key=lambda item: item.path)


def regions_without_asking(files: Mapping[str, str], plan: str) -> list[Region]:
    """Return the regions that a coder is shown without being asked which: all files if they fit, else the
    functions that the plan names, of the files that it names if it names some, these files if they are short,
    and the declarations at the top, which are left out first.

    Empty if the plan names none, or more than fits: then the coder is asked. plan: its words.
    """
    if files and sum(map(len, files.values())) <= SMALL_SOURCES:
        return [region for path, text in files.items() for region in _whole_file(path, text)]
    named = [path for path in files if path in plan or path.removeprefix("src/") in plan]
    whole = [path for path in named if len(files[path]) <= LONGEST_NAMED_FILE]
    words = set(_IDENTIFIERS.findall(plan))
    functions = [
        Region(path=path, first_line=first, last_line=last)
        for path, text in files.items()
        if path not in whole and (path in named or not named)
        for name, first, last in _functions_of(text)
        if name in words or name.rpartition("::")[2] in words
    ]
    paths = {region.path for region in functions}
    lines = [
        line
        for region in functions
        for line in files[region.path].splitlines()[region.first_line - 1 : region.last_line]
    ]
    if (
        not (functions or whole)
        or set(named) - set(whole) - paths
        or sum(len(line) + PER_LINE for line in lines) > LONGEST_SHOWN
    ):
        return []
    heads = [region for path in sorted(paths) for region in _head(path, files[path])]
    return [*functions, *(region for path in whole for region in _whole_file(path, files[path])), *heads]


def _whole_file(path: str, text: str) -> list[Region]:
    count = len(text.splitlines())
    return [
        Region(path=path, first_line=first, last_line=min(first + MAX_LINES - 1, count))
        for first in range(1, count + 1, MAX_LINES)
    ]


def _head(path: str, text: str) -> list[Region]:
    """Return what a file declares before its first function, options among it, without a licence at its top;
    nothing if that is long."""
    last = min((start for _, start, _ in _functions_of(text)), default=1) - 1
    comment = _TOP_COMMENT.match(text)
    first = 1 + (comment[0].count("\n") if comment else 0)
    return [Region(path=path, first_line=first, last_line=last)] if 0 <= last - first < MAX_LINES else []


def excerpts(files: Mapping[str, str], regions: Sequence[Region], most: int = MAX_REGIONS) -> list[Excerpt]:
    """Return the regions, `most` at most, grown to whole functions at either end; unknown files and empty
    ranges are left out."""
    spans = [
        (region.path, *span)
        for region in regions[:most]
        if (span := _grown(files.get(region.path, ""), region)) is not None
    ]
    return _excerpts_of(files, _joined_spans(spans), LONGEST_SHOWN)


def changed_excerpts(shown: Sequence[Excerpt], diff: str) -> list[Excerpt]:
    """Return the excerpts in which a diff changes a line of the old file; all of its files if none does."""
    places = {
        file.path: [(hunk.start, hunk.start + max(1, len(hunk.old)) - 1) for hunk in file.hunks]
        for file in parse_diff(diff)[0]
    }
    ours = [item for item in shown if item.path in places]
    changed = [
        item
        for item in ours
        if any(
            first <= item.first_line + item.text.count("\n") and item.first_line <= last
            for first, last in places[item.path]
        )
    ]
    return changed or ours


def whole_functions(files: Mapping[str, str], wanted: Sequence[str], most: int) -> list[Excerpt]:
    """Return the functions of these names (whole, or their last part), those named first first, within `most`
    characters."""
    by_name: dict[str, list[tuple[str, int, int]]] = {}
    for path, text in files.items():
        for name, first, last in _functions_of(text):
            for known in {name, name.rpartition("::")[2]}:
                by_name.setdefault(known, []).append((path, first, last))
    return _excerpts_of(
        files,
        list(dict.fromkeys(span for name in wanted for span in by_name.get(name, []))),
        most,
        named=False,
    )


def places_of(diff: str, folder: Path) -> list[str]:
    """Return what a diff changed, one line per file: its path and the functions in `folder`, the changed
    tree, that its hunks are in."""
    result = []
    for file in parse_diff(diff)[0]:
        path = folder / file.path
        functions = (
            _functions_of(_text(path.read_bytes()))
            if file.new and path.is_file() and not path.is_symlink()
            else []
        )
        names = {
            name: None
            for first, last in _new_ranges(file)
            for name, start, end in functions
            if start <= last and first <= end
        }
        result.append(f"{file.path}: {', '.join(names)}" if names else file.path)
    return result


def _new_ranges(file: FileDiff) -> list[tuple[int, int]]:
    """First and last changed line of each hunk, in the new file; a hunk that only takes away counts as the
    line where it did."""
    ranges, grown = [], 0
    for hunk in file.hunks:
        line, changed = hunk.start + grown, []
        for item in hunk.lines:
            if item.mark != " ":
                changed.append(line)
            line += item.mark != "-"
        grown += sum((element.mark == "+") - (element.mark == "-") for element in hunk.lines)
        ranges += [(changed[0], changed[-1])] if changed else []
    return ranges


def _functions_of(text: str) -> list[tuple[str, int, int]]:
    return function_lines(text.encode("utf-8", "surrogateescape"))


def _grown(text: str, region: Region) -> tuple[int, int] | None:
    count = len(text.splitlines())
    first, last = region.first_line, min(region.last_line, region.first_line + MAX_LINES - 1, count)
    if first > last:
        return None
    cut = [(start, end) for _, start, end in _functions_of(text) if start <= last and first <= end]
    return min([first, *(start for start, _ in cut)]), min(max([last, *(end for _, end in cut)]), count)


def _joined_spans(spans: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Spans of one file that overlap or touch as one, in the order in which the first of them came."""
    result: list[tuple[str, int, int]] = []
    for path, first, last in spans:
        joined = [item for item in result if item[0] == path and item[1] <= last + 1 and first <= item[2] + 1]
        whole = (
            path,
            min([first, *(item[1] for item in joined)]),
            max([last, *(item[2] for item in joined)]),
        )
        place = result.index(joined[0]) if joined else len(result)
        result = [item for item in result if item not in joined]
        result.insert(place, whole)
    return result


def _excerpts_of(
    files: Mapping[str, str], spans: Sequence[tuple[str, int, int]], most: int, *, named: bool = True
) -> list[Excerpt]:
    """Spans as excerpts, a long one in several that follow one another; one that does not fit is left out,
    and named where `named`."""
    result: list[Excerpt] = []
    left = most
    for path, first, last in spans:
        lines = files[path].splitlines()[first - 1 : last]
        size = sum(len(line) + PER_LINE for line in lines)
        if size > left:
            if named:
                result.append(
                    Excerpt(
                        path=path,
                        first_line=first,
                        text=f"(lines {first} to {last} are left out: too much was asked for)",
                    )
                )
            continue
        left -= size
        result += _parts(path, first, lines)
    return result


def _parts(path: str, first: int, lines: Sequence[str]) -> list[Excerpt]:
    parts: list[Excerpt] = []
    start, size = 0, 0
    for number, line in enumerate(lines):
        if number > start and size + len(line) + PER_LINE > LONGEST_PART:
            parts.append(Excerpt(path=path, first_line=first + start, text="\n".join(lines[start:number])))
            start, size = number, 0
        size += len(line) + PER_LINE
    return [*parts, Excerpt(path=path, first_line=first + start, text="\n".join(lines[start:]))]


def _functions(lines: Sequence[str]) -> list[str]:
    result = []
    for number, line in enumerate(lines, start=1):
        match = _FUNCTION.match(line)
        if match and match.group(1) not in _NOT_FUNCTIONS:
            result.append(f"{match.group(1)}:{number}")
    return result[:MAX_FUNCTIONS]


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
