"""Bundles as a careful forger changes them: other claims and another statement, under right hashes."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from commands import evolake

from evolake.bundles.container import Bundle, as_json, pack, unpack
from evolake.bundles.identity import identity_of
from evolake.bundles.model import bundle_of

Change = Callable[[dict[str, Any], dict[str, Any]], None]
"""Called with the claims, and with what is stated of the champion; changes them."""


def typed(*words: str, lake: Path, **more: str) -> Any:
    return evolake("bundle", *words, environment={**os.environ, **more, "EVOLAKE_LAKE": str(lake)})


def exported(lake: Path, name: str, out: Path, **more: str) -> Path:
    done = typed("export", name, "-o", str(out), lake=lake, **more)
    assert done.returncode == 0, done.stderr
    return out


def answered(file: Path, *words: str, **more: str) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of the check, in a folder without a lake."""
    done = typed("verify", str(file), "--json", *words, lake=file.parent / "none", **more)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def verified(file: Path, *words: str, **more: str) -> tuple[int, str]:
    """Exit code, and the first reason."""
    code, answer = answered(file, *words, **more)
    return code, " ".join(answer["reasons"])


def opened(file: Path) -> Bundle:
    whole = unpack(file.read_bytes())
    assert isinstance(whole, Bundle)
    return whole


def repacked(facts: Mapping[str, Any], members: Mapping[str, bytes]) -> bytes:
    """A bundle whose identity is that of what is in it."""
    return pack({**facts, "identity": identity_of(bundle_of(facts["line"]), facts, members)}, members)


def forged(
    file: Path,
    out: Path,
    change: Change = lambda claims, held: None,
    members: Mapping[str, bytes] | None = None,
    *,
    careful: bool = True,
    **facts: Any,
) -> Path:
    """The bundle with other claims, another statement, other members and facts. careful: its identity is that
    of these."""
    whole = opened(file)
    claims, held = json.loads(whole.members["claims.json"]), json.loads(json.dumps(whole.facts["champion"]))
    change(claims, held)
    inside = {**whole.members, **(members or {}), "claims.json": as_json(claims)}
    stated = {**whole.facts, "champion": held, **facts}
    out.write_bytes((repacked if careful else pack)(stated, inside))
    return out
