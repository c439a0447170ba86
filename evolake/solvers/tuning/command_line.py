"""What a solver accepts on its command line: options with default and range, and settings that it names
(`--sat`), read from what the program prints for `--help`.

Two forms of help are understood, those of MiniSat's and of CaDiCaL's descendants:

    -luby, -no-luby                         (default: on)
    -var-decay    = <double> (   0 ..    1) (default: 0.95)

    --sat          set internal options to target satisfiable instances
    --chrono=0..2              chronological backtracking [1]
    --eliminate=<bool>   bounded variable elimination [true]

Options that decide what is said or stored rather than how it is searched are left out, as for edits of
sources (`evolake.solvers.edits.anchors`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evolake.errors import InputError
from evolake.jail import Limits
from evolake.jail.direct import DirectRun, run_direct
from evolake.solvers.edits.anchors import INT_MAX, NOT_SEARCH, Span, Tunable, TunableKind
from evolake.solvers.edits.catalogue import Value
from evolake.solvers.execute import Program

HELP_LIMITS = Limits(cpu_s=5, wall_s=20, memory_mb=1024)
NOWHERE = Span("", 0, 0)
"""Where the default of an option of a command line is."""
LARGEST = {"imax": INT_MAX, "inf": math.inf, "-inf": -math.inf, "imin": -INT_MAX - 1}
_SWITCH = re.compile(
    r"^\s*-(?P<name>[\w-]+), -no-(?P=name)\s+\(default: (?P<default>on|off)\)\s*$", re.MULTILINE
)
_RANGED = re.compile(
    r"^\s*-(?P<name>[\w-]+)\s*= <(?P<type>double|int32|int64)>\s*(?P<open>[\[(])\s*(?P<low>\S+)\s*\.\.\s*"
    r"(?P<high>[^\s\])]+)\s*(?P<close>[\])])\s*\(default: (?P<default>[^)\s]+)\)\s*$",
    re.MULTILINE,
)
_LONG = re.compile(
    r"^\s*--(?P<name>\w+)=(?:<?(?P<bool>bool)>?|(?P<low>-?[\de.+]+)\.\.(?P<high>-?[\de.+]+))\s+"
    r"(?P<text>.*?)\s*\[(?P<default>[^\]]+)\]\s*$",
    re.MULTILINE,
)
_NAMED = re.compile(r"^\s*--(?P<name>sat|unsat|plain|basic)\s+\S", re.MULTILINE)


@dataclass(frozen=True)
class Setting:
    """One choice of options: a setting that the solver names, or "" for none, and option -> value."""

    preset: str
    values: tuple[tuple[str, Value], ...] = ()

    def moved(self, name: str, value: Value) -> Setting:
        """Return the setting with one option moved."""
        return replace(self, values=tuple(sorted({**dict(self.values), name: value}.items())))

    def without(self, name: str) -> Setting:
        """Return the setting without one of its options."""
        return replace(self, values=tuple(item for item in self.values if item[0] != name))


@dataclass(frozen=True)
class CommandLine:
    """What a program accepts. form: whether its options begin with one dash or two."""

    form: Literal["-", "--"]
    options: Mapping[str, Tunable]
    presets: tuple[str, ...]

    def words(self, setting: Setting) -> tuple[str, ...]:
        """Return the words of the command line that make a setting; none for the default."""
        named = (f"{self.form}{setting.preset}",) if setting.preset else ()
        return (*named, *(self._word(name, value) for name, value in setting.values))

    def _word(self, name: str, value: Value) -> str:
        if self.form == "-" and self.options[name].kind == "bool":
            return f"-{name}" if value else f"-no-{name}"
        if isinstance(value, bool):
            return f"{self.form}{name}={str(value).lower()}"
        return f"{self.form}{name}={value:g}" if isinstance(value, float) else f"{self.form}{name}={value}"

    def with_setting(self, program: Program, setting: Setting) -> Program:
        """Return the program with a setting on its command lines, after the program's own name."""
        words = self.words(setting)

        def with_words(argv: Sequence[str]) -> tuple[str, ...]:
            return (argv[0], *words, *argv[1:])

        return replace(
            program,
            argv=with_words(program.argv),
            proof_argv=None if program.proof_argv is None else with_words(program.proof_argv),
        )


def command_line(program: Program) -> CommandLine:
    """Return what a program accepts, by its `--help`, which is run in the jail.

    Raises:
        InputError: its help names no options in a form that is understood.
    """
    asked = run_direct(
        DirectRun(
            [f"{{solver}}/{program.argv[0]}", "--help"],
            programs=program.folder,
            environment=program.environment,
            tools=program.tools,
        ),
        HELP_LIMITS,
    )
    text = (asked.stdout + b"\n" + asked.stderr).decode("utf-8", "replace")
    found = read_help(text)
    if not found.options:
        raise InputError(
            f"no options are known of {program.argv[0]}",
            wanted="a --help that lists options with defaults and ranges, as CaDiCaL, Kissat, MiniSat and "
            "Glucose print",
            got=next((line.strip()[:120] for line in text.splitlines() if line.strip()), "nothing"),
            do="tune another solver, or describe its options in its --help",
        )
    return found


def read_help(text: str) -> CommandLine:
    """Return what a text of `--help` lists; an option that is listed twice, or whose default breaks its own
    range, is left out."""
    long = [_long(match) for match in _LONG.finditer(text)]
    short = [_switch(match) for match in _SWITCH.finditer(text)] + [
        _ranged(match) for match in _RANGED.finditer(text)
    ]
    found = long or short
    names = [item.name for item in found]
    options = {
        item.name: item
        for item in sorted(found, key=lambda item: item.name)
        if names.count(item.name) == 1
        and not NOT_SEARCH.search(item.name)
        and item.problem(item.default) is None
    }
    presets = tuple(dict.fromkeys(match["name"] for match in _NAMED.finditer(text))) if long else ()
    return CommandLine("--" if long else "-", options, presets)


def _switch(match: re.Match[str]) -> Tunable:
    return Tunable(match["name"], "bool", match["default"] == "on", 0, 1, "", NOWHERE)


def _ranged(match: re.Match[str]) -> Tunable:
    kind: TunableKind = "float" if match["type"] == "double" else "int"
    low, high, default = (
        LARGEST.get(match[name], _number(match[name])) for name in ("low", "high", "default")
    )
    if kind == "int":
        return Tunable(match["name"], kind, _whole(default), low, high, "", NOWHERE)
    low, high = (
        low + (match["open"] == "(") * 1e-9,
        high - (match["close"] == ")" and math.isfinite(high)) * 1e-9,
    )
    return Tunable(match["name"], kind, default, low, high, "", NOWHERE)


def _long(match: re.Match[str]) -> Tunable:
    if match["bool"]:
        return Tunable(match["name"], "bool", match["default"] == "true", 0, 1, match["text"], NOWHERE)
    low, high = _number(match["low"]), _number(match["high"])
    return Tunable(match["name"], "int", _whole(_number(match["default"])), low, high, match["text"], NOWHERE)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _whole(value: float) -> Value:
    return int(value) if math.isfinite(value) else value
