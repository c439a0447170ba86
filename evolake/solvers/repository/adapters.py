"""Adapters: what a solver family needs to be laid out, built, run and read, as data.

One TOML file per family in `data_lake/seeds/solvers/adapters/`; a further solver of a known family, or of a
new one, needs no code:

    name, licences, editable, tunables       licences: files of the variant; editable: globs of what an edit
                                             may touch
    build_files                              globs of makefiles and the like that an edit may touch too,
                                             within what `rules.programs` lets
    [layout]   from, exclude, keep, patch    which upstream files become src/; `patch` is a diff of ours,
               applied when the seed is laid out
    [build]    commands, environment, program    commands run in the variant's folder, in the jail; `program`
               is what they leave in bin/
               or, in place of commands: system = "cmake" | "configure" | "make", options, target, product:
               where that leaves the program
    [run]      argv, proof_argv, proof, exit_codes    {cnf} and {proof} stand for the files
    [statistics]                             counter -> regular expression whose first group is the number

Solvers that are built by CMake, by a configure script or by make alone need only a few words of `[build]`:

    system = "cmake"       cmake of src/ in build/, then make          options: of cmake, like -DSHARED=OFF
    system = "configure"   src/ copied to build/, ./configure there, then make       options: of configure
    system = "make"        src/ copied to build/, then make            options: words after make, like -C sub
                           or NAME=value
    target = "solver"      of make; by default what make builds by itself
    product = "build/..."  where that leaves the program

The sources stay as they are in src/. Flags that an adapter wants pinned go into `environment`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from evolake.errors import InputError
from evolake.reading import Unparsable, Unreadable, parse_toml, read_text, reason
from evolake.solvers.execute import ProofFormat

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


TunablesStyle = Literal["minisat-options", "cadical-options", "kissat-options", "none"]
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_FIELDS = {
    "": {"name", "licences", "editable", "build_files", "tunables", "layout", "build", "run", "statistics"},
    "layout": {"from", "exclude", "keep", "patch"},
    "build": {"commands", "environment", "program", *BUILD_SYSTEM},
    "run": {"argv", "proof_argv", "proof", "exit_codes"},
}


@dataclass(frozen=True)
class Layout:
    """Which upstream files a variant holds.

    source: folder of the upstream tree that becomes src/ ("." is all of it). exclude: globs of files under it
    to leave out. keep: upstream files next to it that are put into src/ as well (licences). patch: our diff,
    or "".
    """

    source: str = "."
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    patch: str = ""


@dataclass(frozen=True)
class Adapter:
    """One solver family.

    build: command lines that run one after another in the variant's folder. environment: theirs. program:
    path of the executable that they leave, relative to the variant. argv, proof_argv: command lines without
    and with a proof; argv[0] is the name of the program in bin/. statistics: counter -> regular expression.
    exit_codes: of the answers "sat" and "unsat". licences: files of a variant that stay. editable,
    build_files: globs, relative to a variant.
    """

    name: str
    build: tuple[tuple[str, ...], ...]
    program: str
    argv: tuple[str, ...]
    proof_argv: tuple[str, ...] | None
    proof: ProofFormat
    environment: Mapping[str, str]
    statistics: Mapping[str, str]
    exit_codes: Mapping[str, int]
    licences: tuple[str, ...]
    editable: tuple[str, ...]
    tunables: TunablesStyle
    layout: Layout
    build_files: tuple[str, ...] = ()

    @property
    def may_change(self) -> tuple[str, ...]:
        """Globs of all that an edit may touch."""
        return (*self.editable, *self.build_files)


def adapters_folder() -> Path:
    """Return where the adapters are: below the setting `seeds`."""
    from evolake.settings import load

    return load().seeds / "solvers" / "adapters"


def known_adapters(folder: Path | None = None) -> list[str]:
    """Return names of the adapters in `folder` (default: that of the settings), in order."""
    return sorted(path.stem for path in (folder or adapters_folder()).glob("*.toml"))


def load_adapter(name: str, folder: Path | None = None) -> Adapter:
    """Return the adapter called `name`, or the one in the file that `name` is the path of, if that ends in
    .toml. A file's patch is in its folder.

    Raises:
        InputError: there is none, or its file cannot be used.
    """
    if name.endswith(".toml"):
        return _adapter_in(Path(name), Path(name).parent)
    folder = folder or adapters_folder()
    if not _NAME.fullmatch(name) or not (folder / f"{name}.toml").is_file():
        known = ", ".join(known_adapters(folder)) or "none"
        wanted = f"one of {known}, or a file NAME.toml"
        raise InputError(
            f"there is no adapter {name!r}",
            wanted=wanted,
            got=name,
            do=f"name one of these, or write {folder / name}.toml",
        )
    return _adapter_in(folder / f"{name}.toml", folder.parent / "patches")


def _adapter_in(path: Path, patches: Path) -> Adapter:
    try:
        return read_adapter(read_text(path), patches)
    except OSError as error:
        got = error.strerror or str(error)
        raise InputError(
            f"the adapter {path} cannot be read", wanted="a TOML file", got=got, do="check the path"
        ) from None
    except InputError as error:
        raise InputError(
            f"the adapter {path} cannot be used: {error.what}",
            wanted=error.wanted,
            got=error.got,
            do=f"fix {path}",
        ) from None


def read_adapter(text: str, patches: Path) -> Adapter:
    """Return an adapter from the text of its file. patches: folder that `layout.patch` is a file of. Raises
    InputError that names the field."""
    try:
        data = parse_toml(text, name="the adapter")
    except Unparsable as error:
        raise InputError("it is no TOML", got=error.got) from None
    for table, fields in _FIELDS.items():
        if unknown := sorted(set(_table(data, table) if table else data) - fields):
            raise InputError(
                f"unknown field {table + '.' if table else ''}{unknown[0]}",
                wanted=f"one of {', '.join(sorted(fields))}",
            )
    build, run, layout = _table(data, "build"), _table(data, "run"), _table(data, "layout")
    proof, style = run.get("proof", "none"), data.get("tunables", "none")
    _one_of("run.proof", proof, get_args(ProofFormat))
    _one_of("tunables", style, get_args(TunablesStyle))
    if (proof == "none") != ("proof_argv" not in run):
        raise InputError("run.proof and run.proof_argv go together", wanted="both, or neither")
    program = _text("build.program", build.get("program"))
    if not re.fullmatch(r"bin/[A-Za-z0-9_.+-]+", program) or program == "bin/starexec_run_default":
        raise InputError("build.program cannot be used", wanted="bin/NAME", got=program)
    commands = build_commands(build, program)
    argv = _texts("run.argv", run.get("argv"))
    if argv[0] != program.removeprefix("bin/") or not any("{cnf}" in word for word in argv):
        raise InputError(
            "run.argv cannot be used",
            wanted=f"[{program.removeprefix('bin/')!r}, ..., '{{cnf}}']",
            got=repr(argv),
        )
    proof_argv = _texts("run.proof_argv", run["proof_argv"]) if "proof_argv" in run else None
    if proof_argv is not None and (
        proof_argv[0] != argv[0]
        or not all(any(name in word for word in proof_argv) for name in ("{cnf}", "{proof}"))
    ):
        raise InputError(
            "run.proof_argv cannot be used",
            wanted="the same program with {cnf} and {proof}",
            got=repr(proof_argv),
        )
    return Adapter(
        name=_text("name", data.get("name")),
        build=commands,
        program=program,
        argv=argv,
        proof_argv=proof_argv,
        proof=proof,
        environment=_strings("build.environment", build.get("environment", {})),
        statistics=_patterns(_table(data, "statistics")),
        exit_codes={"sat": 10, "unsat": 20} | _table(run, "exit_codes"),
        licences=_texts("licences", data.get("licences")),
        editable=_texts("editable", data.get("editable")),
        tunables=style,
        build_files=_texts("build_files", data["build_files"]) if "build_files" in data else (),
        layout=Layout(
            layout.get("from", "."),
            tuple(layout.get("exclude", ())),
            tuple(layout.get("keep", ())),
            _read_patch(patches, layout.get("patch")),
        ),
    )


def _read_patch(patches: Path, name: str | None) -> str:
    if name is None:
        return ""
    try:
        return read_text(patches / name)
    except (OSError, Unreadable) as error:
        raise InputError(
            "layout.patch cannot be read", wanted=f"a file of {patches}", got=reason(error)
        ) from None


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    result = data.get(name, {})
    if not isinstance(result, dict):
        raise InputError(f"{name} is no table", wanted=f"[{name}]")
    return result


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{field} is missing", wanted="a text", got=repr(value))
    return value


def _texts(field: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
        raise InputError(f"{field} is missing", wanted="a list of texts", got=repr(value))
    return tuple(value)


def _strings(field: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(
        re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and isinstance(item, str) for name, item in value.items()
    ):
        raise InputError(f"{field} cannot be used", wanted="NAME = 'text' pairs", got=repr(value))
    return dict(value)


def _patterns(result: Mapping[str, Any]) -> dict[str, str]:
    for counter, pattern in result.items():
        try:
            groups = re.compile(pattern).groups
        except (re.error, TypeError) as error:
            raise InputError(f"statistics.{counter} is no regular expression", got=str(error)) from None
        if groups < 1:
            raise InputError(f"statistics.{counter} has no group for the number", got=pattern)
    return dict(result)


def _one_of(field: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{field} cannot be used", wanted=f"one of {', '.join(allowed)}", got=repr(value))
