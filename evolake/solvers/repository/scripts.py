"""The two scripts of a variant, written from its adapter: starexec_build and bin/starexec_run_default."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from evolake.solvers.repository.adapters import Adapter

_BUILD = """#!/bin/sh
# Builds src/ into {program}. Written from the adapter {name}.
set -eu
case "$0" in */*) cd "${{0%/*}}" ;; esac
rm -rf build {program}
mkdir build
{exports}{commands}"""

_RUN = """#!/bin/sh
# Solves the file $1; where $2 is a folder, writes the proof $2/proof.out. Written from the adapter {name}.
case "$0" in */*) here="${{0%/*}}" ;; *) here=. ;; esac
{proof}{plain}
"""


def build_script(adapter: Adapter, *, serial: bool = False) -> str:
    """Return the text of starexec_build. serial: with one job of make at a time, so that what a failing build
    says is always the same."""
    exports = "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in sorted(adapter.environment.items())
    )
    commands = "".join(
        shlex.join(_one_job(command) if serial else command) + "\n" for command in adapter.build
    )
    return _BUILD.format(program=adapter.program, name=adapter.name, exports=exports, commands=commands)


def _one_job(command: Sequence[str]) -> list[str]:
    """Return the command with -j1 in place of another number of jobs; GNU make takes the last."""
    return [*command, "-j1"] if command[0].rpartition("/")[2] in ("make", "gmake") else list(command)


def run_script(adapter: Adapter) -> str:
    """Return the text of bin/starexec_run_default; the shell becomes the solver, so that no process is
    made."""
    proof = f'if [ -n "${{2-}}" ]; then {_line(adapter.proof_argv)}; fi\n' if adapter.proof_argv else ""
    return _RUN.format(name=adapter.name, proof=proof, plain=_line(adapter.argv))


def _line(argv: tuple[str, ...]) -> str:
    return " ".join([f'exec "$here/{argv[0]}"', *(_word(word) for word in argv[1:])])


def _word(word: str) -> str:
    """Return a word of a command line with the two files in place of {cnf} and {proof}, quoted for the
    shell."""
    places = {"{cnf}": '"$1"', "{proof}": '"$2/proof.out"'}
    return "".join(
        places.get(part) or shlex.quote(part) for part in re.split(r"({cnf}|{proof})", word) if part
    )
