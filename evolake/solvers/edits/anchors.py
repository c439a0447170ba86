"""What edits find in a base's sources: anchors, pieces of code that must be in a file exactly once, whatever
the white space around their tokens; and the options that a solver declares, with default and range, which a
tunable edit moves.

Solvers of one descent share whole functions but not their formatting, and a seed may carry small patches of
ours. Matching tokens lets one anchor serve several bases; exactly one match keeps an edit from landing in an
unintended place.

Options are declared in three styles. `minisat-options`: `static DoubleOption opt(category, "name", "text",
default, DoubleRange(low, closed, high, closed));`, likewise Int, Int64 and Bool. `cadical-options`:
`OPTION(name, default, low, high, ..., "text")`. `kissat-options`: `OPTION (name, default, low, high,
"text")`, where a number may be a shift, or a name that the same file defines. Defaults are moved, not command
lines: a variant stays one program that is run in one way. Options that decide what is said or stored rather
than how it is searched (proofs, models, logs, limits, seeds) are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from evolake.solvers.edits.catalogue import Value, literal

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|[0-9][\w.]*|\s+|.', re.DOTALL)
SOURCES = ("src",)


@dataclass(frozen=True)
class Span:
    """Half-open range of characters in a file."""

    path: str
    start: int
    end: int


@cache
def pattern(anchor: str) -> re.Pattern[str]:
    """Return the expression that finds the tokens of `anchor` with any white space between them."""
    parts = []
    for token in _TOKEN.findall(anchor.strip()):
        if token.isspace():
            continue
        word = re.escape(token)
        parts.append(rf"\b{word}\b" if re.fullmatch(r"\w+", token) else word)
    return re.compile(r"\s*".join(parts))


def source_files(folder: Path) -> dict[str, str]:
    """Return text of every C++ source of a variant by its path relative to `folder`. A file that is not UTF-8
    is read as Latin-1, byte for byte."""
    root = next((folder / name for name in SOURCES if (folder / name).is_dir()), folder)
    result = {}
    for path in sorted(root.rglob("*")):
        if (
            path.suffix in (".cc", ".cpp", ".c", ".h", ".hpp", ".hh")
            and path.is_file()
            and not path.is_symlink()
        ):
            result[path.relative_to(folder).as_posix()] = path.read_bytes().decode("latin-1")
    return result


def file_named(files: Mapping[str, str], ending: str) -> str | None:
    """Return the one path that is `ending` or ends with `/ending`; None if there is none, or several."""
    hits = [path for path in files if path == ending or path.endswith(f"/{ending}")]
    return hits[0] if len(hits) == 1 else None


def find(files: Mapping[str, str], ending: str, anchor: str) -> Span | str:
    """Return where the anchor is, or `anchor-missing: ...` / `anchor-ambiguous: ...`."""
    path = file_named(files, ending)
    if path is None:
        return f"anchor-missing: no single file {ending}"
    hits = list(pattern(anchor).finditer(files[path]))
    if not hits:
        return f"anchor-missing: {ending} has no {_short(anchor)}"
    if len(hits) > 1:
        return f"anchor-ambiguous: {ending} has {len(hits)} times {_short(anchor)}"
    return Span(path, hits[0].start(), hits[0].end())


def _short(anchor: str) -> str:
    text = " ".join(anchor.split())
    return text if len(text) <= 80 else f"{text[:77]}..."


TunableKind = Literal["float", "int", "bool"]
MINISAT_FILES = ("core/Solver.cc", "simp/SimpSolver.cc")
CADICAL_FILES = ("src/options.hpp",)
KISSAT_FILES = ("src/options.h",)
INT_MAX = 2**31 - 1
BOUNDS = {
    "INT32_MAX": INT_MAX,
    "INT32_MIN": -INT_MAX - 1,
    "INT64_MAX": 2.0**53,
    "INT64_MIN": -(2.0**53),
    "HUGE_VAL": math.inf,
    "-HUGE_VAL": -math.inf,
}
NOT_SEARCH = re.compile(
    r"seed|verb|quiet|report|log|check|proof|drup|drat|certif|model|witness|dimacs|pars|trace|profile|"
    r"terminate|binary|flush|stats|debug|realtime|external|idrup|lidrup|frat|lrat|veripb|opensb|lim-time|"
    r"mem-lim|cpu-lim|assumpts|vbyte|incremental|rcheck|up-time|gc-frac|arena|^compact|lucky|walknonstable$"
)

_MINISAT = re.compile(
    r"^[ \t]*static\s+(?P<type>Double|Int64|Int|Bool)Option\s+(?P<variable>\w+)\s*\(\s*(?:\w+|"
    r"\"[^\"]*\")\s*,\s*\"(?P<name>[\w-]+)\"\s*,\s*(?P<text>(?:\"(?:[^\"\\]|"
    r"\\.)*\"\s*)+),\s*(?P<default>[^,;()]+?)\s*(?:,\s*(?:Double|Int64|"
    r"Int)Range\s*\((?P<range>[^;]*?)\)\s*)?\)\s*;",
    re.MULTILINE,
)
_CADICAL = re.compile(
    r"^[ "
    r"\t]*OPTION\s*\(\s*(?P<name>\w+)\s*,\s*(?P<default>[^,]+?)\s*,\s*(?P<low>[^,]+?)\s*,\s*(?P<high>[^,"
    r"]+?)\s*,(?P<rest>[^\"]*)\"(?P<text>[^\"]*)\"\s*\)",
    re.MULTILINE,
)
_DEFINED = re.compile(r"^#define[ \t]+(?P<name>\w+)[ \t]+(?P<value>\w+)[ \t]*$", re.MULTILINE)
_NOT_KISSAT = re.compile(r"^defrag|^sweepcomplete$|^bump$")
"""Of Kissat, next to NOT_SEARCH: when vectors are packed again, what lifts a limit of effort, and what breaks
its own assertion: without bumping, other options moved as well, Kissat 4.0.2 comes to the end of its queue of
variables."""


@dataclass(frozen=True)
class Tunable:
    """One declared option. `low` and `high` are inclusive; `span` is where its default is; `variable` is what
    the code reads it by."""

    name: str
    kind: TunableKind
    default: Value
    low: float
    high: float
    text: str
    span: Span
    variable: str = ""

    def problem(self, value: Value) -> str | None:
        """Return why the default cannot be moved to `value`; None if it can."""
        if self.kind == "bool":
            return None if isinstance(value, bool) else f"{value!r} is not true or false"
        if isinstance(value, bool) or not math.isfinite(value):
            return f"{value!r} is not a number"
        if self.kind == "int" and value != int(value):
            return f"{value!r} is not a whole number"
        return None if self.low <= value <= self.high else f"{value!r} is outside {self.low:g}..{self.high:g}"

    def written(self, value: Value) -> str:
        """Return the value as the source writes it."""
        return literal(value, whole=self.kind == "int")


def tunables(folder: Path, adapter: Any) -> list[Tunable]:
    """Return the tunables of a variant, by name. `adapter.tunables` names the style; style `none` gives
    none."""
    return read_tunables(source_files(folder), adapter.tunables)


def read_tunables(files: Mapping[str, str], style: str) -> list[Tunable]:
    """Do as `tunables`, from texts. An option declared twice, or with a default that is no literal or breaks
    its own range, is left out."""
    endings, reader = _STYLES.get(style, ((), None))
    result: dict[str, list[Tunable]] = {}
    for path, text in files.items():
        if reader is not None and any(path == ending or path.endswith(f"/{ending}") for ending in endings):
            for tunable in reader(path, text):
                result.setdefault(tunable.name, []).append(tunable)
    once = [
        items[0] for name, items in sorted(result.items()) if len(items) == 1 and not NOT_SEARCH.search(name)
    ]
    return [tunable for tunable in once if tunable.problem(tunable.default) is None]


def _minisat(path: str, text: str) -> list[Tunable]:
    result = []
    for match in _MINISAT.finditer(text):
        kind: TunableKind = {"Double": "float", "Int": "int", "Int64": "int", "Bool": "bool"}[match["type"]]  # type: ignore[assignment]
        default = _value(match["default"], kind)
        if default is None:
            continue
        low, high = _minisat_range(match["range"], kind)
        span = Span(path, match.start("default"), match.end("default"))
        result.append(
            Tunable(match["name"], kind, default, low, high, _joined(match["text"]), span, match["variable"])
        )
    return result


def _minisat_range(text: str | None, kind: TunableKind) -> tuple[float, float]:
    """Inclusive bounds; an open end of a real range moves in by a billionth of a unit."""
    if kind == "bool":
        return 0, 1
    parts = [part.strip() for part in (text or "").split(",")]
    if kind == "int":
        low, high = (parts[0], parts[1]) if len(parts) == 2 else ("INT32_MIN", "INT32_MAX")
        return _bound(low), _bound(high)
    if len(parts) != 4:
        return -math.inf, math.inf
    low, high = _bound(parts[0]), _bound(parts[2])
    return low + (0 if parts[1] == "true" else 1e-9), high - (
        0 if parts[3] == "true" or math.isinf(high) else 1e-9
    )


def _cadical(
    path: str, text: str, number: Callable[[str], float | None] = lambda text: _value(text, "float")
) -> list[Tunable]:
    """Return the options of a table of them. number: what a text of the table comes to; None leaves an option
    out."""
    result = []
    for match in _CADICAL.finditer(text):
        low, high, default = (number(match[name]) for name in ("low", "high", "default"))
        if low is None or high is None or default is None:
            continue
        span = Span(path, match.start("default"), match.end("default"))
        result.append(
            Tunable(match["name"], "int", int(default), low, high, match["text"], span, match["name"])
        )
    return result


def _kissat(path: str, text: str) -> list[Tunable]:
    """Return the tunable options. A name has the value of its first definition: later definitions are for
    builds of other kinds, which the adapter does not ask for."""
    names = {"INT_MAX": str(INT_MAX)}
    for match in _DEFINED.finditer(text):
        names.setdefault(match["name"], match["value"])

    def number(text: str) -> int | None:
        value, _, shift = (names.get(part.strip(), part.strip()) for part in text.partition("<<"))
        base, power = _value(value, "int"), _value(shift or "0", "int")
        return base << power if isinstance(base, int) and isinstance(power, int) and 0 <= power < 31 else None

    return [item for item in _cadical(path, text, number) if not _NOT_KISSAT.search(item.name)]


_STYLES: dict[str, tuple[tuple[str, ...], Callable[[str, str], list[Tunable]]]] = {
    "minisat-options": (MINISAT_FILES, _minisat),
    "cadical-options": (CADICAL_FILES, _cadical),
    "kissat-options": (KISSAT_FILES, _kissat),
}


def _value(text: str, kind: TunableKind) -> Value | None:
    text = text.strip()
    if kind == "bool":
        return {"true": True, "false": False}.get(text)
    try:
        number = math.prod(float(part) for part in text.split("*"))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if kind == "int" and number == int(number) else number


def _bound(text: str) -> float:
    if text in BOUNDS:
        return BOUNDS[text]
    try:
        return float(text)
    except ValueError:
        return -math.inf if text.startswith("-") else math.inf


def _joined(text: str) -> str:
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
