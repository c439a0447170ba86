"""Trusted code that runs inside the jail and does on a workspace's files what an agent asked: list, read,
search, edit, write, delete.

The files come as text in the payload and what changed goes back in the reply; no file of any machine is
opened. Patterns are an agent's, and may be made to run for ever: the limits of the call end them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from evolake.text_edits import Misfit, replaced, with_ends, with_ends_of

MOST_MATCHES = 80
LONGEST_LINE = 400
MOST_LINES = 400
MOST_CHARACTERS = 11_000
"""Of the lines that one reply shows, their numbers and the footer not counted in."""


class Fault(Exception):
    """What the agent asked cannot be done; the text says why, in words that it can act on."""


def act(source: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Do one thing.

    Args:
        source: name of the tool. payload: `arguments`, validated; `files`, path -> text, those that the tool
            may look at.

    Returns:
        `text` for the agent; `changed`, path -> new text or None for one that is gone; `fault`, why nothing
        was done, or "".
    """
    try:
        text, changed = TOOLS[source](payload["files"], **payload["arguments"])
    except Fault as fault:
        return {"text": "", "changed": {}, "fault": str(fault)}
    return {"text": text, "changed": changed, "fault": ""}


Did = tuple[str, dict[str, str | None]]


def list_files(files: Mapping[str, str], path: str) -> Did:
    """Return paths below `path`, each with its number of lines."""
    result = [
        f"{name}  {len(text.splitlines())} lines"
        for name, text in sorted(files.items())
        if _below(name, path)
    ]
    if not result:
        raise Fault(f"nothing is below {path!r}")
    return "\n".join(result), {}


def read(files: Mapping[str, str], path: str, first_line: int, last_line: int | None) -> Did:
    """Return lines of one file, with their numbers; a footer says which of how many, if they are not all."""
    text = with_ends(_file(files, path))
    lines = text.split("\n")
    # the end of a last line is no further line; it is shown as one with the whole file, so that the file is
    # seen to end there
    count = len(lines) - (text.endswith("\n") and len(lines) > 1)
    last = min(len(lines) if last_line is None else last_line, len(lines), first_line + MOST_LINES - 1)
    if first_line > last:
        raise Fault(f"{path} has {count} lines; lines {first_line} to {last_line} are none of them")
    shown: list[str] = []
    left, cut = MOST_CHARACTERS, 0
    for number in range(first_line, last + 1):
        line = lines[number - 1]
        if len(line) > left and shown:
            break
        cut = max(0, len(line) - left)
        left -= len(line) - cut + 8
        shown.append(
            f"{number:5d}  {line[: len(line) - cut]}"
            + (f"[... {cut} characters cut here ...]" if cut else "")
        )
    end = first_line + len(shown) - 1
    if end < count or first_line > 1 or cut:
        end = min(end, count)
        which = (
            f"lines {first_line} to {end} of {count} are"
            if end > first_line
            else f"line {first_line} of {count} is"
        )
        rest = f"; continue from line {end + 1}" if end < count else ""
        shown.append(f"({path}: {which} shown{', in part' if cut else ''}{rest})")
    return "\n".join(shown), {}


def grep(files: Mapping[str, str], pattern: str, path: str) -> Did:
    """Return lines that a regular expression matches."""
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise Fault(f"the pattern is no regular expression: {error}") from None
    result: list[str] = []
    for name, text in sorted(files.items()):
        if not _below(name, path):
            continue
        for number, line in enumerate(with_ends(text).split("\n"), start=1):
            if wanted.search(line):
                result.append(f"{name}:{number}: {line[:LONGEST_LINE]}")
            if len(result) > MOST_MATCHES:
                return "\n".join(
                    result[:MOST_MATCHES]
                ) + f"\n(more than {MOST_MATCHES} lines match; the rest is left out)", {}
    return "\n".join(result) or "no line matches", {}


def edit(files: Mapping[str, str], path: str, search: str, replace: str) -> Did:
    """Replace a text that is in the file exactly once, whatever its line ends; the file keeps its own."""
    if search == replace:
        raise Fault("`replace` is the same text as `search`")
    done = replaced(_file(files, path), search, replace, path)
    if isinstance(done, Misfit):
        raise Fault(done.reason)
    return f"{path} was changed at line {done.line}", {path: done.text}


def write(files: Mapping[str, str], path: str, text: str) -> Did:
    """Write a whole file, new or in place of the one that is there, whose line ends it keeps."""
    text = with_ends_of(files.get(path, ""), text)
    if files.get(path) == text:
        raise Fault(f"{path} holds just this already")
    return f"{path} was {'replaced' if path in files else 'made'}: {len(text.splitlines())} lines", {
        path: text
    }


def delete(files: Mapping[str, str], path: str) -> Did:
    """Take a file away."""
    _file(files, path)
    return f"{path} is gone", {path: None}


TOOLS: dict[str, Callable[..., Did]] = {
    "list_files": list_files,
    "read_file": read,
    "grep": grep,
    "edit_file": edit,
    "write_file": write,
    "delete_file": delete,
}


def _file(files: Mapping[str, str], path: str) -> str:
    if path not in files:
        raise Fault(f"there is no file {path!r}")
    return files[path]


def _below(name: str, path: str) -> bool:
    folder = path.strip("/").removeprefix("./")
    return folder in ("", ".") or name == folder or name.startswith(f"{folder}/")
