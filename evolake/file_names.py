"""The one place where a text becomes a file's name, and the check that an id passes before anything is built
on it.

A text may come from a model, from an imported file or from a person: `../../x`, `CON`, a thousand letters, no
letter at all. `file_name` gives one name for it that is in its folder, that every file system takes, and that
no other text has:

    survivor-3          survivor-3                      a plain text is its own name
    ../../Etc/passwd    etc-passwd~89f65f288c04cfc5     a hash of the whole text stands for what was lost
    Survivor-3          survivor-3~e41647c89871cd68     for upper case too: some file systems do not distinguish it

Plain are lower-case letters, digits, - and _ alone; the ~ before the hash is not, so no plain text is the
name of another one.
"""  # noqa: E501

from __future__ import annotations

import hashlib
import re
import shlex
import unicodedata

from evolake.errors import InputError

LONGEST = 100
"""Characters of a name without its suffix; with the hash and a suffix it is far below the 255 bytes of common
file systems."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SUFFIX = re.compile(r"(\.[a-z0-9][a-z0-9_-]*)*")
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)),
}
_KEPT = 60
_HASH = 16


def file_name(text: str, suffix: str = "") -> str:
    """Return the name of the file for `text`: the same for the same text, another for another one, also where
    case is not distinguished.

    Args:
        text: any text, half surrogate pairs included. suffix: what our code adds, such as ".html"; never
            data.

    Raises:
        ValueError: `suffix` is none.
    """
    if not _SUFFIX.fullmatch(suffix) or len(suffix) > LONGEST:
        raise ValueError(f"{suffix!r} is no suffix of a file's name")
    if _PLAIN.fullmatch(text) and len(text) <= LONGEST and text not in _RESERVED:
        return text + suffix
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    kept = re.sub(r"[^a-z0-9_-]+", "-", folded).strip("-_")[:_KEPT].rstrip("-_")
    return f"{kept or 'unnamed'}~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH]}{suffix}"  # noqa: E501


def id_like(name: str) -> str:
    """Return an id that is most like a name: what `check_id` takes."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")
    return plain[:LONGEST].rstrip("-_") or "project"


def check_id(kind: str, value: object, *, do: str = "") -> str:
    """Return `value`, if it may be the id of a `kind`: what people give to families, rules and seeds, and
    what files and rows are named after.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, str) or not _PLAIN.fullmatch(value) or len(value) > LONGEST:
        wanted = f"at most {LONGEST} lower-case letters, digits, - and _, a letter or digit first"
        raise InputError(
            f"{kind} has an id that cannot be used",
            wanted=wanted,
            got=repr(value)[:200],
            do=do or "rename it",
        )
    return value


def shell_word(path: object) -> str:
    """Return a path as a command that is printed has it: quoted, and never read as an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
