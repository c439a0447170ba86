"""What a built program asks of the system and what it holds, read from its ELF headers: the net behind the
rules on sources.

However a source hides a call, the linker must know it: the names that a program takes from shared libraries
are in its dynamic symbols. The bytes come from a build by untrusted sources; nothing is believed beyond its
bounds, and what cannot be read is said in `problem`.

Format: Tool Interface Standard, Executable and Linking Format, version 1.2; System V ABI, AMD64 and AArch64
supplements (64 bit, little-endian).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

EXECUTABLE, WRITABLE = 1, 2
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551
LOADED, NO_BYTES = 2, 8
BUILD_ID = ".note.gnu.build-id"
"""A hash that the linker makes of all that it wrote, of what is not loaded too."""
NEEDED, STRINGS, SYMBOLS = 1, 5, 6
RUN_PATHS = (15, 29, 0x7FFFFEFC, 0x7FFFFFFD, 0x7FFFFFFF)
"""Tags that make the loader look elsewhere or load more: RPATH, RUNPATH, AUDIT, AUXILIARY, FILTER."""
MOST_SYMBOLS, LONGEST_NAME = 100_000, 4000


def program_facts(program: bytes) -> dict[str, Any]:
    """Return what a program asks for and holds.

    Returns:
        imports: names of undefined dynamic symbols, sorted. libraries: those it needs. sections: names of its
            loaded sections. executable_bytes,
        data_bytes: of its segments that are executed, and of the others. writes_code: a segment or the stack
            is both written and executed.
        loads_more: it makes the loader look elsewhere. problem: why it cannot be read, or "".
    """
    empty = {
        "imports": [],
        "libraries": [],
        "sections": [],
        "executable_bytes": 0,
        "data_bytes": 0,
        "writes_code": False,
        "loads_more": False,
        "problem": "",
    }
    try:
        return empty | _facts(program)
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        return empty | {"problem": f"its headers cannot be read ({error})"}


def loaded_sha(program: bytes) -> str:
    """Return the sha256 (hex) of all that is loaded of a program: names, addresses and bytes of its sections,
    without the linker's build id. Programs that differ by names of symbols and by what debuggers read have
    one. "" of one whose headers cannot be read."""
    try:
        digest = hashlib.sha256()
        for name, kind, address, offset, size in _loaded(program):
            if name != BUILD_ID:
                if kind != NO_BYTES and offset + size > len(program):
                    raise ValueError("a section is beyond its end")
                digest.update(f"{name} {kind} {address} {size}\n".encode())
                digest.update(b"" if kind == NO_BYTES else program[offset : offset + size])
        return digest.hexdigest()
    except (struct.error, ValueError, IndexError, OverflowError):
        return ""


def _facts(data: bytes) -> dict[str, Any]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no ELF file of 64 bits, little-endian")
    segments = list(_segments(data))
    loads = [item for item in segments if item[0] == LOAD]
    stack = next((flags for kind, flags, *_ in segments if kind == STACK), EXECUTABLE)
    tags = _dynamic(data, segments)
    result = {
        "sections": _sections(data),
        "executable_bytes": sum(size for _, flags, _, _, size in loads if flags & EXECUTABLE),
        "data_bytes": sum(size for _, flags, _, _, size in loads if not flags & EXECUTABLE),
        "writes_code": bool(stack & EXECUTABLE)
        or any(flags & EXECUTABLE and flags & WRITABLE for _, flags, *_ in loads),
        "loads_more": any(tag in RUN_PATHS for tag, _ in tags),
    }
    if not tags:
        return result
    strings = _offset(next(value for tag, value in tags if tag == STRINGS), loads)
    symbols = _offset(next(value for tag, value in tags if tag == SYMBOLS), loads)
    libraries = sorted({_name(data, strings + value) for tag, value in tags if tag == NEEDED})
    return result | {"libraries": libraries, "imports": _imports(data, symbols, strings)}


def _segments(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """(type, flags, offset, address, bytes in the file) of each segment."""
    place, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, place + number * size)
        if offset + length > len(data):
            raise ValueError("a segment is beyond its end")
        yield kind, flags, offset, address, length


def _dynamic(data: bytes, segments: list[tuple[int, int, int, int, int]]) -> list[tuple[int, int]]:
    """Return the entries of the dynamic segment; [] of a program that is linked statically."""
    result = []
    for kind, _, offset, _, length in segments:
        if kind == DYNAMIC:
            for place in range(offset, offset + length - 15, 16):
                tag, value = struct.unpack_from("<QQ", data, place)
                if tag == 0:
                    break
                result.append((tag, value))
    return result


def _offset(address: int, loads: list[tuple[int, int, int, int, int]]) -> int:
    """Return where in the file the bytes at an address are."""
    for _, _, offset, start, length in loads:
        if start <= address < start + length:
            return offset + address - start
    raise ValueError("an address that no segment holds")


def _imports(data: bytes, symbols: int, strings: int) -> list[str]:
    """Return the names of the undefined dynamic symbols. The table ends where the strings begin, as linkers
    write it."""
    if not symbols < strings or (strings - symbols) // 24 > MOST_SYMBOLS:
        raise ValueError("dynamic symbols that are not followed by their names")
    result = set()
    for place in range(symbols + 24, strings - 23, 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, place)
        if section == 0 and name:
            result.add(_name(data, strings + name))
    return sorted(result)


def _sections(data: bytes) -> list[str]:
    """Names of the sections that are loaded."""
    return sorted({name for name, *_ in _loaded(data)})


def _loaded(data: bytes) -> list[tuple[str, int, int, int, int]]:
    """(name, type, address, offset, bytes) of each section that is loaded, in the file's order."""
    place = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    if not place or not count:
        raise ValueError("no section headers")
    headers = [struct.unpack_from("<IIQQQQ", data, place + number * size) for number in range(count)]
    strings = headers[names][4]
    return [
        (_name(data, strings + name), kind, address, offset, length)
        for name, kind, flags, address, offset, length in headers
        if flags & LOADED
    ]


def _name(data: bytes, place: int) -> str:
    end = data.index(b"\0", place, place + LONGEST_NAME)
    return data[place:end].decode("ascii", "backslashreplace")
