"""Strict diffs between variants: exact context, no fuzz, only files that may be edited, all of it or
nothing.

A hunk is put where its old lines are: at the line that it names, else at the one other place of the file
where they are after the hunk before it. If they are nowhere, or at several places, the diff is refused with
words that show its writer what to repair.

The text of a hunk is what counts; the line numbers and counts in its header are hints, and models get them
wrong. Files are named by relative paths, editable ones by globs, and only text that comes back byte for byte
is touched.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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


@functools.lru_cache(maxsize=512)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts))


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether `path` fits one of the globs; `*` stays within a folder, `**` does not."""
    return any(_glob(pattern).fullmatch(path) for pattern in patterns)


def path_problem(path: str, folder: Path, editable: Sequence[str]) -> str | None:
    """Return why a diff may not name `path`; None if it may. No link on the way is followed."""
    if (
        not path
        or path.startswith("/")
        or "\\" in path
        or "\0" in path
        or ".." in PurePosixPath(path).parts
        or str(PurePosixPath(path)) != path
    ):
        return f"{path!r} is no plain path below the variant's folder"
    if not matches(path, editable):
        return f"{path} may not be edited; only {', '.join(editable)} may"
    here = folder
    for part in PurePosixPath(path).parts:
        here = here / part
        if here.is_symlink():
            return f"{path} leads through a link"
    if here.exists() and not here.is_file():
        return f"{path} is no file"
    return None


def read_text(path: Path) -> tuple[str, str]:
    """Return a file's text and the encoding that gives its bytes back: UTF-8, or Latin-1 where it is not
    that."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


CONTEXT = 3
LONGEST_DIFF = 4 << 20
LARGEST_FILE = 2 << 20
SHOWN = 100
LEAST_ALIKE = 0.6
"""Similarity (difflib) from which on a line of the file is shown to the writer of a diff that does not
match."""
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class DiffResult:
    """problems: why it was not applied, one sentence each; then nothing was changed. files: paths that were
    changed, made or removed."""

    applied: bool
    problems: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def apply_diff(folder: Path, diff: str, *, editable: Sequence[str]) -> DiffResult:
    """Apply a unified diff of one or more files to the variant at `folder`.

    editable: globs of paths, relative to the folder, that it may touch. What is wrong with the diff is a
    value, never an exception.
    """
    if len(diff) > LONGEST_DIFF:
        return DiffResult(False, (f"the diff has {len(diff)} characters; at most {LONGEST_DIFF} are read",))
    files, problems = parse_diff(diff)
    changes: dict[str, bytes | None] = {}
    for file in files:
        if problem := path_problem(file.path, folder, editable):
            problems.append(problem)
            continue
        content, result = _changed(folder / file.path, file)
        problems += result
        changes[file.path] = content
    if problems:
        return DiffResult(False, tuple(problems))
    for path, content in changes.items():
        target = folder / path
        if content is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return DiffResult(True, (), tuple(changes))


def _changed(target: Path, file: FileDiff) -> tuple[bytes | None, list[str]]:
    """Return the new bytes of one file (None: it is removed), and what is wrong."""
    if file.old is None:
        if target.exists():
            return None, [
                f"{file.path} is to be made, but is there already; write '--- a/{file.path}' to change it"
            ]
        text, encoding = "", "utf-8"
    elif not target.exists():
        return None, [
            f"{file.path} is to be changed, but there is no such file; write '--- /dev/null' to make it"
        ]
    else:
        text, encoding = read_text(target)
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) and file.new is not None else ""
    lines, problems = _spliced(split_lines(text.removeprefix(BYTE_ORDER_MARK)), file)
    if problems:
        return None, problems
    changed = mark + "".join(lines)
    if file.new is None:
        return None, [
            f"{file.path} is to be removed, but the diff leaves lines of it; give all its lines with '-'"
        ] if changed else []
    if "\0" in changed or len(changed) > LARGEST_FILE:
        return None, [f"{file.path} would be no text of at most {LARGEST_FILE} characters"]
    try:
        return changed.encode(encoding), []
    except UnicodeEncodeError:
        return None, [f"{file.path} is written in Latin-1; use characters of ASCII in it"]


def split_lines(text: str) -> list[str]:
    """Return lines with their ends; only a line feed ends one."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _spliced(lines: list[str], file: FileDiff) -> tuple[list[str], list[str]]:
    """Return the lines of the new file, each new one with the line end of the old line next to it, and what
    is wrong."""
    result: list[str] = []
    problems, done = [], 0
    plain = [line.rstrip("\r\n") for line in lines]
    for hunk in file.hunks:
        place, problem = _place(plain, hunk, done)
        if problem:
            problems.append(f"{file.path}, hunk {hunk.number} (line {hunk.start}): {problem}")
            continue
        result += lines[done:place]
        at = place
        for line in hunk.lines:
            if line.mark == "+":
                end = _line_end(lines, at)
                if result and not result[-1].endswith("\n"):
                    result[-1] += end
                result.append(line.text + (end if line.ended else ""))
            elif line.mark == " ":
                result.append(lines[at])
            at += line.mark != "+"
        done = at
    return [*result, *lines[done:]], problems


def _line_end(lines: Sequence[str], at: int) -> str:
    """Return the line end of the nearest old line that has one: the one at `at` or before it, else the one
    after."""
    near = next(
        (line for line in [*reversed(lines[: at + 1]), *lines[at + 1 :]] if line.endswith("\n")), "\n"
    )
    return "\r\n" if near.endswith("\r\n") else "\n"


def _place(plain: Sequence[str], hunk: Hunk, done: int) -> tuple[int, str]:
    """0-based line where the hunk's old lines are, not before `done`; or why it cannot be placed."""
    old = hunk.old
    stated = hunk.start - 1 if old else hunk.start
    if not old:
        if stated >= done and stated in (0, len(plain)):
            return stated, ""
        return 0, "it has no line of context; give at least one unchanged line before or after what is added"
    if done <= stated and list(plain[stated : stated + len(old)]) == old:
        return stated, ""
    places = [
        at
        for at in range(done, len(plain) - len(old) + 1)
        if plain[at] == old[0] and list(plain[at : at + len(old)]) == old
    ]
    if len(places) == 1:
        return places[0], ""
    if places:
        named = ", ".join(str(at + 1) for at in places[:5])
        return (
            0,
            f"its lines stand at {len(places)} places (lines {named}); give the right line number or more "
            "context",
        )
    return 0, _mismatch(plain, old, max(done, min(stated, len(plain))))


def _mismatch(plain: Sequence[str], old: Sequence[str], stated: int) -> str:
    """Return the first line of the hunk that differs, at the place where most of its beginning is."""

    def agreed(at: int) -> int:
        count = 0
        while count < len(old) and at + count < len(plain) and plain[at + count] == old[count]:
            count += 1
        return count

    starts = [at for at, line in enumerate(plain) if line == old[0]]
    best = max(starts, key=lambda at: (agreed(at), -abs(at - stated)), default=None)
    if best is None:
        near = _nearest(plain, old[0])
        return f"its first old line stands nowhere in the file: {old[0][:SHOWN]!r}{near}"
    wrong = agreed(best)
    there = repr(plain[best + wrong][:SHOWN]) if best + wrong < len(plain) else "the end of the file"
    text = _neighbours(plain, min(best + wrong, len(plain) - 1))
    return (
        f"old line {wrong + 1} does not match line {best + wrong + 1} of the file: the diff has "
        f"{old[wrong][:SHOWN]!r}, the file has {there}; the file there:\n{text}"
    )


def _nearest(plain: Sequence[str], wanted: str) -> str:
    """Return the words that show the lines of the file about the one most like `wanted`; "" if none is like
    it."""
    found = difflib.get_close_matches(
        wanted.strip(), {line.strip() for line in plain if line.strip()}, n=1, cutoff=LEAST_ALIKE
    )
    if not found:
        return ""
    at = next(number for number, line in enumerate(plain) if line.strip() == found[0])
    return f"; most like it is line {at + 1} of the file, here with its neighbours:\n{_neighbours(plain, at)}"


def _neighbours(plain: Sequence[str], at: int) -> str:
    return "\n".join(plain[max(0, at - CONTEXT) : at + CONTEXT + 1])


def diff_files(old: dict[str, Path], new: dict[str, Path]) -> str:
    """Return unified diff between two sets of text files (path -> file), with a/ and b/ before the paths. A
    file that is no text is named in a line."""
    parts = []
    for path in sorted({*old, *new}):
        before, after = (files[path].read_bytes() if path in files else b"" for files in (old, new))
        if before == after and (path in old) == (path in new):
            continue
        if b"\0" in before or b"\0" in after:
            parts.append(f"Binary files a/{path} and b/{path} differ\n")
            continue
        sides = [split_lines(read_text(files[path])[0]) if path in files else [] for files in (old, new)]
        before_name, after_name = (
            f"{prefix}/{path}" if path in files else "/dev/null" for prefix, files in (("a", old), ("b", new))
        )
        parts += _ended(difflib.unified_diff(sides[0], sides[1], before_name, after_name, n=CONTEXT))
    return "".join(parts)


def _ended(lines: Iterable[str]) -> list[str]:
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
