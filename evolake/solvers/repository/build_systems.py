"""The command lines of solvers that are built by CMake, by a configure script or by make alone, from a few
words of their adapter.

    system = "cmake"       cmake of src/ in build/, then make          options: of cmake, like -DSHARED=OFF
    system = "configure"   src/ copied to build/, ./configure there, then make       options: of configure
    system = "make"        src/ copied to build/, then make            options: words after make, like -C sub or NAME=value
    target = "solver"      of make; by default what make builds by itself
    product = "build/..."  where that leaves the program

The sources stay as they are in src/. Flags that an adapter wants pinned go into `environment`.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evolake.errors import InputError

BUILD_SYSTEM = ("system", "options", "target", "product")
SYSTEMS = ("cmake", "configure", "make")
COPIED = ("cp", "-R", "src/.", "build")
Commands = tuple[tuple[str, ...], ...]


def build_commands(build: Mapping[str, Any], program: str) -> Commands:
    """Return the command lines of an adapter's table [build]. Raises InputError that names the field."""
    if "system" not in build:
        if stray := [name for name in BUILD_SYSTEM if name in build]:
            raise InputError(
                f"build.{stray[0]} goes with build.system", wanted=f"system = one of {', '.join(SYSTEMS)}"
            )
        return _listed(build.get("commands"))
    if "commands" in build:
        raise InputError("build.commands and build.system exclude each other", wanted="one of them")
    system, target = build["system"], build.get("target", "")
    if system not in SYSTEMS:
        raise InputError(
            "build.system cannot be used", wanted=f"one of {', '.join(SYSTEMS)}", got=repr(system)
        )
    options = build.get("options", [])
    if not isinstance(options, list) or not all(isinstance(word, str) and word for word in options):
        raise InputError("build.options cannot be used", wanted="a list of texts", got=repr(options))
    if (
        not isinstance(target, str)
        or not re.fullmatch(r"[A-Za-z0-9_./+-]*", target)
        or target.startswith("-")
    ):
        raise InputError("build.target cannot be used", wanted="a target of make", got=repr(target))
    product = build.get("product")
    if not isinstance(product, str) or not re.fullmatch(r"build(/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*)+", product):
        raise InputError(
            "build.product is missing or cannot be used",
            wanted="the built program's path, build/...",
            got=repr(product),
        )
    make, last = ("make", "-j2", "-C", "build"), ("cp", product, program)
    aim = (target,) if target else ()
    if system == "cmake":
        configured = (
            "cmake",
            "-S",
            "src",
            "-B",
            "build",
            "-DCMAKE_BUILD_TYPE=Release",
            "-G",
            "Unix Makefiles",
            *options,
        )
        return configured, (*make, *aim), last
    if system == "configure":
        return (
            COPIED,
            ("sh", "-c", 'cd build && exec ./configure "$@"', "configure", *options),
            (*make, *aim),
            last,
        )
    return COPIED, (*make, *options, *aim), last


def _listed(commands: Any) -> Commands:
    if not isinstance(commands, list) or not commands:
        raise InputError(
            "build.commands is missing",
            wanted="a list of command lines, each a list of words; or build.system",
        )
    for words in commands:
        if (
            not isinstance(words, list)
            or not words
            or not all(isinstance(word, str) and word for word in words)
        ):
            raise InputError("build.commands is missing", wanted="a list of texts", got=repr(words))
    return tuple(tuple(words) for words in commands)
