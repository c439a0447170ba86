"""Bad input to every command, as data: what is typed, which files and variables are there, and how it has to
end.

The rows stand in bad_inputs.txt: exit code | a part of what standard error says | variables and words as
typed. `{here}` is a fresh folder that holds FILES, in which the command runs; `{seeds}` are the shipped
seeds.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LATIN = "caf\u00e9 = 'x'\n".encode("latin-1")
BINARY = bytes(range(256))
DEEP = b"[" * 9000
FAMILY = {
    "generator.py": b"def input(difficulty):\n    return {}, []\n",
    "template.md": b"Say 1.\n",
    "validator.py": b"def solution(inputs):\n    return 1\n",
}

FILES: Mapping[str, bytes] = {
    "text.txt": b"no such thing\n",
    "empty": b"",
    "binary": BINARY,
    "latin": LATIN,
    "deep.json": DEEP,
    "list.json": b"[1, 2]",
    "null.json": b"null",
    "number.json": b"7",
    "rounds.json": b'{"0": 0}',
    "no.json": b"{",
    "design.py": b"import os\n",
    "syntax.py": b"def (:\n",
    "zero.py": b"x = 1\0\n",
    "good.cnf": b"p cnf 1 2\n1 0\n-1 0\n",
    "bad.cnf": b"p cnf x y\n",
    "good.drat": b"0\n",
    "problem.json": b"{}",
    "candidate.json": b'{"status": "unsat"}',
    "query.sql": b"SELEC 1",
    "two.sql": b"SELECT 1; SELECT 2",
    "replies.csv": b"a,b\n1,2\n",
    "sheet.jsonl": b'{"x": 1}\n',
    **{f"family/{name}": data for name, data in FAMILY.items()},
    **{f"climber/{name}": data for name, data in FAMILY.items()},
    "climber/family.toml": b'id = "../../x"\n',
    **{f"latin-family/{name}": data for name, data in FAMILY.items()},
    "latin-family/template.md": LATIN,
    **{f"toml-family/{name}": data for name, data in FAMILY.items()},
    "toml-family/family.toml": b"id = \n",
    **{f"keys-family/{name}": data for name, data in FAMILY.items()},
    "keys-family/family.toml": b"colour = 'red'\n",
    "half-family/generator.py": b"x = 1\n",
    "bare-framework/database/database.json": b'{"designs": []}',
    "one-framework/database/database.json": b'{"designs": [7]}',
    "folder/keep": b"",
    "damaged-run/metadata.json": b"{",
    "damaged-run/programs/p.json": b"{",
    "damaged-trace/trace.json": b'{"format": "evolake-trace", "version": 2, "projects": []}',
    "damaged-trace/candidates.jsonl": b"{",
    "damaged-gepa/gepa_state.bin": b"cposix\nsystem\n.",
    "newer/_format.json": json.dumps({"format": 99, "evolake": "9.9", "read_by": "9.0"}).encode(),
    "damaged/_format.json": b"{",
    "solver/core/main.cc": b"int main() { return 0; }\n",
    "latin-seeds/solvers.toml": LATIN,
    "binary-seeds/solvers.toml": BINARY,
    "mistyped-seeds/solvers.toml": b"seeds = 7\n",
    "tables-seeds/solvers.toml": b"archives = [1]\n",
    "entry-seeds/solvers.toml": b"[[seeds]]\nname = 1\n",
    "open-seeds/solvers.toml": b"[[seeds]\n",
    "path-seeds/solvers.toml": b"[[seeds]]\nname = 'x'\npath = 5\nadapter = 'minisat22'\nlicence = 'MIT'\n",
}


@dataclass(frozen=True)
class Case:
    """One case: what is typed (variables first), the exit code, and what standard error says."""

    code: int
    complaint: str
    typed: str


def _read(row: str) -> Case:
    code, summary, typed = row.split(" | ", 2)
    return Case(int(code), summary, typed)


CASES = [
    _read(row)
    for row in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    if row and not row.startswith("#")
]
