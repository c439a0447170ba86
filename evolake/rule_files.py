"""Rules are files: markdown with a front matter, read as data and pinned by hash.

    ---
    id: designs-traces
    version: 1
    kind: static            # static | process | learned | guidance
    gate: trace             # the gate that applies it
    check: designs.traces   # a registered checker
    parameters: {"max_nodes": 5000}
    lesson: Write fewer operators.    # optional: what a proposer is shown that the rule has blocked, in one
                                      sentence
    ---
    Why the rule exists, for people.

The front matter is a flat list of `key: value`; `parameters` is JSON. A hash of rules is over (id, version,
kind, gate, check, parameters) of each, sorted: prose and lesson may be edited without making a verdict stale.
A verdict names the hash of the rules of its gate (`Ruleset.hash_of`), and so does the code version of a
gate's asset (`files_hash`): an edit makes stale what asks the edited rule, and nothing else.

A rule of kind `guidance` judges nothing: it has no gate, no check and no parameters, and its text is what
agents are shown. It is among `guidance`, not among `rules`, and not in the hash.

This module knows no gate and no checker, so that definitions can be loaded without them;
`evolake.gates.rules` holds rules to what a line has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.file_names import check_id
from evolake.reading import Unparsable, Unreadable, parse_json, read_text, reason, whole_number

GUIDANCE = "guidance"
KINDS = ("static", "process", "learned", GUIDANCE)
JUDGING = {"gate", "check", "parameters", "lesson"}
FIELDS = {"id", "version", "kind", "since_cycle"} | JUDGING
REQUIRED = {"id", "version", "kind"}
LARGEST_RULE = 1 << 20
"""Bytes of a rule file."""


@dataclass(frozen=True)
class Rule:
    """One rule. `text` is its prose, `text_sha` is of the whole file; `meaning` is what the ruleset hash is
    over. lesson: "" where it has none."""

    id: str
    version: int
    kind: str
    gate: str
    check: str
    parameters: dict[str, Any]
    since_cycle: str
    text_sha: str
    path: str
    text: str = ""
    lesson: str = ""

    @property
    def meaning(self) -> str:
        """Return what the ruleset's hash is over: id, version, kind, gate, check and parameters."""
        return json.dumps(
            [self.id, self.version, self.kind, self.gate, self.check, self.parameters], sort_keys=True
        )


def parse_rule(text: str, path: str) -> Rule:
    """Return a rule from the text of its file.

    Raises:
        InputError: no front matter, a missing or unknown field, or a value of the wrong kind.
    """
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        wanted = "a first line `---`, fields, and a closing `---`"
        raise InputError(
            f"rule file {path} has no front matter", wanted=wanted, do="see the other rule files"
        )
    end = [line.strip() for line in lines[1:]].index("---") + 1
    fields: dict[str, str] = {}
    for line in lines[1:end]:
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in FIELDS:
            raise InputError(
                f"rule file {path}: unknown field {line.strip()!r}",
                wanted=f"key: value with a key of {', '.join(sorted(FIELDS))}",
            )
        fields[key.strip()] = value.strip()
    required = REQUIRED if fields.get("kind") == GUIDANCE else REQUIRED | {"gate", "check"}
    if missing := required - set(fields):
        raise InputError(
            f"rule file {path} lacks {', '.join(sorted(missing))}",
            do="add the missing fields to the front matter",
        )
    check_id(f"rule file {path}", fields["id"], do="fix `id` in its front matter")
    if fields["kind"] not in KINDS:
        raise InputError(f"rule file {path}: kind", wanted=f"one of {', '.join(KINDS)}", got=fields["kind"])
    if fields["kind"] == GUIDANCE and (stray := sorted(JUDGING & set(fields))):
        raise InputError(
            f"rule file {path}: guidance judges nothing",
            wanted="no gate, check, parameters or lesson",
            got=", ".join(stray),
        )
    if whole_number(fields["version"], digits=9) is None:
        raise InputError(f"rule file {path}: version", wanted="a whole number", got=fields["version"])
    try:
        parameters = parse_json(fields.get("parameters") or "{}", name="the parameters")
    except Unparsable as error:
        raise InputError(f"rule file {path}: parameters are not JSON", got=error.got) from None
    if not isinstance(parameters, dict):
        raise InputError(
            f"rule file {path}: parameters", wanted="a JSON object", got=type(parameters).__name__
        )
    return Rule(
        id=fields["id"],
        version=int(fields["version"]),
        kind=fields["kind"],
        gate=fields.get("gate", ""),
        check=fields.get("check", ""),
        parameters=parameters,
        since_cycle=fields.get("since_cycle", "0001"),
        text_sha=hashlib.sha256(text.encode()).hexdigest(),
        path=path,
        text="\n".join(lines[end + 1 :]).strip(),
        lesson=fields.get("lesson", ""),
    )


def files_hash(folder: Path, gates: Collection[str] | None = None) -> str:
    """Return the hash of the rules of `gates` (None: of all that judge) in the files `folder/*.md`, as
    `Ruleset.hash_of` gives it.

    Whether the line has the gates and checkers that they name is not looked at, so that nothing of the line
    is imported.

    Raises:
        InputError: no rule in the folder, an unreadable file, or two rules of one id.
    """
    return hash_of_rules(judging(read_rules(folder, folder.name), gates))


def judging(rules: Iterable[Rule], gates: Collection[str] | None) -> list[Rule]:
    """Return the rules of `gates` (None: of all gates) that judge."""
    return [rule for rule in rules if rule.kind != GUIDANCE and (gates is None or rule.gate in gates)]


def hash_of_rules(rules: Iterable[Rule]) -> str:
    """Return 64 hex digits over what rules mean, in the order given."""
    return hashlib.sha256("\n".join(rule.meaning for rule in rules).encode()).hexdigest()


def read_rules(folder: Path, line: str) -> list[Rule]:
    """Return the rules of all kinds in the files `folder/*.md`, by id.

    Raises:
        InputError: none, an unreadable file, or two rules of one id.
    """
    files = sorted(folder.glob("*.md"))
    if not files:
        raise InputError(
            f"no rules for the line {line!r}",
            wanted=f"rule files {folder}/*.md",
            do="restore data_lake/seeds from the repository",
        )
    rules = sorted((parse_rule(_text_of(path), path.name) for path in files), key=lambda rule: rule.id)
    ids = [rule.id for rule in rules]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise InputError(f"rule id {twice[0]!r} is in two files", do="give each rule its own id")
    return rules


def _text_of(path: Path) -> str:
    try:
        return read_text(path, LARGEST_RULE)
    except (OSError, Unreadable) as error:
        got, do = reason(error), "fix the file or remove it"
        raise InputError(
            f"the rule file {path} cannot be read", wanted="a file in UTF-8", got=got, do=do
        ) from None
