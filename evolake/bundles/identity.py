"""What a statement of a bundle is about: not the artifact alone, but also what evaluates it, what it is
compared with, and the rules that it passed.

With another evaluator or a worse program to start from, an honest measurement gives any gain. So the manifest
names the hashes of these next to the artifact's id, with one hash over all. A bundle whose members are others
does not hold. A bundle that was changed together with its identity is a statement about something else: it is
refused by `--identity`, and by a machine that knows what it claims to be about.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from evolake.bundles.container import RULES, as_json
from evolake.bundles.model import LineBundle


def identity_of(line: LineBundle, facts: Mapping[str, Any], members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the identity as a manifest has it: each thing that the statements rest on with its hash, and the
    hash over these and the artifact.

    facts: with line, kind and artifact_id.

    Raises:
        ValueError: a member that it follows from cannot be read.
    """
    rules = {name: data for name, data in members.items() if name.startswith(RULES)}
    own = {name: members[name] for name in line.members if name in members}
    rests_on = {"rules": _sha(rules), **(line.rests_on(own) if line.rests_on else _each(own))}
    what = [facts["line"], facts["kind"], facts["artifact_id"], rests_on]
    return {"rests_on": rests_on, "sha256": hashlib.sha256(as_json(what)).hexdigest()}


def _each(members: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}


def _sha(members: Mapping[str, bytes]) -> str:
    return hashlib.sha256(as_json(_each(members))).hexdigest()
