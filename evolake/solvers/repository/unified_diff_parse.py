"""Unified diffs as data. The text of a hunk is what counts; the line numbers and counts in its header are
hints, and models get them wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_IGNORED = ("index ", "new file mode ", "deleted file mode ", "old mode ", "new mode ", "similarity index ")
_REFUSED = {
    "rename from ": "renames a file",
    "copy from ": "copies a file",
    "GIT binary patch": "holds a binary patch",
    "Binary files ": "holds a binary file",
}


@dataclass(frozen=True)
class Line:
    """One line of a hunk. mark: " ", "-" or "+". ended: whether a line end follows it."""

    mark: str
    text: str
    ended: bool = True


@dataclass(frozen=True)
class Hunk:
    """start: 1-based line of the old file where it should be. number: which hunk of its file it is, from
    1."""

    number: int
    start: int
    lines: tuple[Line, ...]

    @property
    def old(self) -> list[str]:
        """Return the lines before the change."""
        return [line.text for line in self.lines if line.mark != "+"]


@dataclass(frozen=True)
class FileDiff:
    """What happens to one file. old is None where it is made, new is None where it is removed."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """Return the path after the change, or before it if the file is removed."""
        return self.new or self.old or ""


def whole_hunks(text: str, most: int) -> str:
    """Return a diff of ours cut to `most` characters between its hunks; a line says how many characters were
    left out."""
    if len(text) <= most:
        return text
    lines, ends, length = text.splitlines(keepends=True), [0], 0
    for number, line in enumerate(lines):
        if number and (line.startswith("@@ ") or _is_header(lines, number)):
            ends.append(length)
        length += len(line)
    end = max(end for end in ends if end <= most)
    return f"{text[:end]}({len(text) - end} characters more, whole hunks, are left out)\n"


def parse_diff(text: str) -> tuple[list[FileDiff], list[str]]:
    """Return the files of a unified diff, and what is wrong with it. Paths may have the prefixes a/ and
    b/."""
    # a byte order mark is the file's own and no part of its first line, even if a model repeats it
    text = re.sub("(?m)^([ +-])\ufeff", r"\1", text.removeprefix("\ufeff"))
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    files: list[FileDiff] = []
    problems: list[str] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        if refused := next((words for start, words in _REFUSED.items() if line.startswith(start)), None):
            problems.append(f"line {position + 1} {refused}, which is not possible here: write it as text")
            position += 1
        elif _is_header(lines, position):
            file, position = _read_file(lines, position, problems)
            files.append(file)
        elif not line.strip() or line.startswith(("diff ", *_IGNORED)):
            position += 1
        else:
            problems.append(f"line {position + 1} belongs to no file of the diff: {line[:80]!r}")
            break
    if not files and not problems:
        problems.append("there is no file in the diff; it begins with '--- a/PATH' and '+++ b/PATH'")
    seen = [file.path for file in files]
    problems += [
        f"{path} comes twice; give all its hunks under one header"
        for path in sorted({path for path in seen if seen.count(path) > 1})
    ]
    return files, problems


def _is_header(lines: list[str], position: int) -> bool:
    return (
        lines[position].startswith("--- ")
        and position + 1 < len(lines)
        and lines[position + 1].startswith("+++ ")
    )


def _read_file(lines: list[str], position: int, problems: list[str]) -> tuple[FileDiff, int]:
    old, new = _name(lines[position], "a/"), _name(lines[position + 1], "b/")
    if old is None and new is None:
        problems.append(f"line {position + 1}: both files are /dev/null")
    elif old is not None and new is not None and old != new:
        problems.append(
            f"line {position + 1}: {old} becomes {new}; a file cannot be renamed, remove one and make the "
            "other"
        )
    position += 2
    hunks: list[Hunk] = []
    while position < len(lines) and (match := _HUNK.match(lines[position])):
        hunk, position = _read_hunk(lines, position + 1, len(hunks) + 1, match)
        hunks.append(hunk)
    if not hunks:
        problems.append(
            f"{new or old}: no hunk follows its header; a hunk begins with '@@ -LINE,COUNT +LINE,COUNT @@'"
        )
    return FileDiff(old, new, tuple(hunks)), position


def _name(line: str, prefix: str) -> str | None:
    name = line[4:].split("\t")[0].strip()
    return None if name == "/dev/null" else name.removeprefix(prefix)


def _read_hunk(lines: list[str], position: int, number: int, result: re.Match[str]) -> tuple[Hunk, int]:
    body: list[Line] = []
    blank = 0
    while position < len(lines):
        line = lines[position]
        if line.startswith("\\"):
            if body:
                body[-1] = Line(body[-1].mark, body[-1].text, ended=False)
        elif line == "" or line[0] in " -+":
            if _is_header(lines, position) and not _belongs(lines, position, body, result):
                break
            body.append(Line(line[:1] or " ", line[1:]))
            blank = 0 if line else blank + 1
        else:
            break
        position += 1
    return Hunk(
        number, int(result[1]), tuple(body[: len(body) - _surplus(body, blank, int(result[2] or 1))])
    ), position


def _surplus(body: list[Line], blank: int, wanted: int) -> int:
    """Return how many of the `blank` empty lines at the end are between this hunk and the next, and are no
    context: all that its count does not want.
    """
    excess = sum(line.mark != "+" for line in body) - wanted
    return excess if 0 <= excess <= blank else blank


def _belongs(lines: list[str], position: int, body: list[Line], result: re.Match[str]) -> bool:
    """Return whether what looks like the header of the next file is a removed and an added line of this hunk.
    The counts decide, but not against two names with the prefixes of a diff and a hunk after them."""
    heads = position + 2 < len(lines) and _HUNK.match(lines[position + 2])
    if (
        heads
        and lines[position].startswith(("--- a/", "--- /dev/null"))
        and lines[position + 1].startswith(("+++ b/", "+++ /dev/null"))
    ):
        return False
    old, new = sum(line.mark != "+" for line in body), sum(line.mark != "-" for line in body)
    return old < int(result[2] or 1) and new < int(result[4] or 1)
