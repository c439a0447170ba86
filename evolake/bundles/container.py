"""The file that a bundle is: a plain tar archive of which every byte follows from the members' names and
bytes.

`bundle.json` comes first and names every other member with its sha256 and size, and a root hash over all of
it; the others follow by name. Headers hold nothing but name and size, nothing is compressed, and what is not
exactly what `pack` writes is refused: no byte in the file could be another. Any `tar` unpacks it.

A hash protects against accidents and careless changes. A person who changes a claim and all hashes over it
has made another bundle, with another root: what its claims are worth is found by running them again
(`verifying`), and who made it by comparing the root with one that is known otherwise.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake.reading import Unparsable, parse_json, unique_keys

MANIFEST = "bundle.json"
FORMAT, VERSION = "evolake-bundle", 2
BLOCK = 512
MOST_BYTES, MOST_MEMBERS, LONGEST_MANIFEST = 512 << 20, 1000, 4 << 20
RULES = "rules/"
"""Folder of the rules among the members."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,3}")
LONGEST_NAME = 100
MODE = 0o644
DEEPEST, MOST_VALUES, DIGITS = 200, 20_000_000, 4300
"""Of one JSON member."""


@dataclass(frozen=True)
class Refused:
    """A file that is no whole bundle. reason: why, one line."""

    reason: str


@dataclass(frozen=True)
class Bundle:
    """A whole bundle. facts: what its manifest says next to the members. members: name -> bytes, without the
    manifest. root: 64 hex digits of all."""

    facts: Mapping[str, Any]
    members: Mapping[str, bytes]
    root: str

    def read(self, name: str) -> Any:
        """Return the value of a JSON member.

        Raises:
            ValueError: it is not there, no JSON, or JSON of which readers could take different values: a key
                twice, a number that is not finite.
        """
        if name not in self.members:
            raise ValueError(f"there is no member {name}")
        try:
            value = parse_json(
                self.members[name],
                name=name,
                characters=MOST_BYTES,
                depth=DEEPEST,
                values=MOST_VALUES,
                digits=DIGITS,
                pairs=unique_keys,
            )
            json.dumps(value, allow_nan=False)
        except Unparsable:
            raise ValueError(f"the member {name} is no JSON") from None
        except ValueError as error:
            raise ValueError(f"the member {name}: {error}") from None
        return value


class _Odd(Exception):
    """Why bytes are no bundle."""


def as_json(value: Any) -> bytes:
    """Return a value as members hold it: the same bytes for the same value."""
    return (json.dumps(value, sort_keys=True, ensure_ascii=True, indent=1) + "\n").encode()


def pack(facts: Mapping[str, Any], members: Mapping[str, bytes]) -> bytes:
    """Return the bundle's bytes. facts: JSON values, what the manifest says next to the members.

    Raises:
        ValueError: a name that no member may have, or more than a bundle holds.
    """
    if bad := [name for name in members if not _is_name(name) or name == MANIFEST]:
        raise ValueError(f"no member may be called {bad[0]!r}")
    if len(members) > MOST_MEMBERS or sum(map(len, members.values())) > MOST_BYTES // 2:
        raise ValueError(
            f"{len(members)} members of {sum(map(len, members.values())):,} bytes are more than a bundle "
            "holds"
        )
    manifest = _manifest(facts, members)
    return _archive({MANIFEST: as_json(manifest), **{name: members[name] for name in sorted(members)}})


def unpack(data: bytes) -> Bundle | Refused:
    """Return the bundle in `data`, or why there is none. Nothing but the result is written anywhere."""
    try:
        return _unpacked(data)
    except _Odd as odd:
        return Refused(str(odd))


def root_of(manifest: Mapping[str, Any]) -> str:
    """Return sha256 (hex) over all that a manifest says but the root itself."""
    return hashlib.sha256(
        as_json({name: value for name, value in manifest.items() if name != "root"})
    ).hexdigest()


def _manifest(facts: Mapping[str, Any], members: Mapping[str, bytes]) -> dict[str, Any]:
    listed = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in members.items()
    }
    made = {"format": FORMAT, "version": VERSION, "facts": dict(facts), "members": listed}
    return made | {"root": root_of(made)}


def _unpacked(data: bytes) -> Bundle:
    if len(data) > MOST_BYTES:
        raise _Odd(f"it has {len(data):,} bytes, and a bundle at most {MOST_BYTES:,}")
    held = _members(data)
    if next(iter(held), None) != MANIFEST:
        raise _Odd(f"it does not begin with {MANIFEST}")
    manifest = _read_manifest(held.pop(MANIFEST))
    members = manifest["members"]
    if list(held) != sorted(members):
        strange = sorted(set(held) ^ set(members))
        raise _Odd(
            f"its members are not those of {MANIFEST}: {strange[0]}"
            if strange
            else "its members are not in order"
        )
    for name, bytes_ in held.items():
        if members[name] != {"sha256": hashlib.sha256(bytes_).hexdigest(), "bytes": len(bytes_)}:
            raise _Odd(f"the member {name} is not the one that {MANIFEST} names: its sha256 differs")
    return Bundle(manifest["facts"], held, manifest["root"])


def _read_manifest(data: bytes) -> dict[str, Any]:
    if len(data) > LONGEST_MANIFEST:
        raise _Odd(f"{MANIFEST} has {len(data):,} bytes")
    try:
        manifest = parse_json(data, name=MANIFEST, digits=DIGITS)
    except Unparsable:
        raise _Odd(f"{MANIFEST} is no JSON") from None
    if not isinstance(manifest, dict) or set(manifest) != {"format", "version", "facts", "members", "root"}:
        raise _Odd(f"{MANIFEST} is not that of a bundle")
    if (manifest["format"], manifest["version"]) != (FORMAT, VERSION):
        raise _Odd(
            f"it is of the format {str(manifest['format'])[:40]!r} {str(manifest['version'])[:10]}; this "
            f"evolake reads {FORMAT} {VERSION}: export it again"
        )
    if not isinstance(manifest["facts"], dict) or not isinstance(manifest["members"], dict):
        raise _Odd(f"{MANIFEST} is not that of a bundle")
    try:
        json.dumps(manifest, allow_nan=False)
        same = as_json(manifest) == data and root_of(manifest) == manifest["root"]
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise _Odd(f"the root hash is not that of {MANIFEST}")
    return manifest


def _members(data: bytes) -> dict[str, bytes]:
    """Return name -> bytes of every member, in the order of the file; each byte of the file is accounted
    for."""
    result: dict[str, bytes] = {}
    place = 0
    while data[place : place + BLOCK].strip(b"\0"):
        name, size = _header(data[place : place + BLOCK])
        if name in result or len(result) > MOST_MEMBERS:
            raise _Odd(f"the member {name} is there twice" if name in result else "it has too many members")
        place += BLOCK
        end = place + size + (-size) % BLOCK
        if end > len(data) or data[place + size : end].strip(b"\0"):
            raise _Odd(f"the member {name} is cut off, or is followed by something that is no member")
        result[name] = data[place : place + size]
        place = end
    if data[place:] != _ending(place):
        raise _Odd("something follows its last member, or its end is cut off")
    return result


def _header(block: bytes) -> tuple[str, int]:
    """Name and size by a header, which must be the one that writing makes of them: a link, a folder or an
    owner is in none."""
    try:
        name, size = block[:100].rstrip(b"\0").decode("ascii"), int(block[124:135].decode("ascii"), 8)
        same = _is_name(name) and _block(name, size) == block
    except (ValueError, UnicodeDecodeError, OverflowError):
        same, name, size = False, "", 0
    if not same:
        raise _Odd("a header in it is none that evolake writes")
    return name, size


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and NAME.fullmatch(name) is not None


def _block(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, MODE
    return info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict")


def _ending(place: int) -> bytes:
    """Return the zeros that end an archive whose last member ends at `place`: two blocks, and up to a whole
    record."""
    least = place + 2 * BLOCK
    return b"\0" * (least + (-least) % tarfile.RECORDSIZE - place)


def _archive(members: Mapping[str, bytes]) -> bytes:
    parts: list[bytes] = []
    for name, data in members.items():
        parts += [_block(name, len(data)), data, b"\0" * ((-len(data)) % BLOCK)]
    whole = b"".join(parts)
    return whole + _ending(len(whole))
