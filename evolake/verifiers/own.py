"""Verifiers of the user's own: a function of one Python file that scores replies, run in the jail and nowhere
else.

`EVOLAKE_PROMPTS__SCORER` names it, as `checks.py:score`, `my_checks:score` (the file my_checks.py), or
`math_verify`:

    def score(reply: str, label, question: str) -> float | bool
    def right_reply(label, question: str) -> str          # only if the label, in the asked form, is no right
                                                          reply

`reply` is the whole reply, without calls of tools; `label` is the answer of the row. 1 or True is correct;
what is between counts in the reward alone. What the file imports is imported once, in the jail's server; each
reply is scored in a process that is forked from it, so no reply can change the verifier that the next one
meets. A problem carries the file's text (`Problem.entry`), so rows, exports and bundles say by what they were
judged, and can be judged again elsewhere.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.jail.patience import map_patiently
from evolake.jail.protocol import GENERIC_DRIVER, Call, Limits, Outcome
from evolake.parsing import parse_python
from evolake.reading import Unreadable, parse_json, read_text, reason
from evolake.verifiers.external import Verified

OWN = "own:"
"""How the scorer of a problem begins that has a verifier of the user's own."""
MATH_VERIFY = "math_verify"
OWN_LIMITS = Limits(cpu_s=10.0, wall_s=22.0, memory_mb=2048)
"""Of one reply."""
MOST_JAILS = 4
EACH = 50
"""Replies that are worth another jail."""
RIGHT_REPLY = "right_reply"
MOST_BYTES = 65_536
"""Of a verifier's file: each problem carries it."""
SIGNATURE = "def score(reply: str, label, question: str) -> float"
MATH_VERIFY_SOURCE = '''"""Compare exactly, and by math-verify if the label is LaTeX that the exact reader declines."""

from evolake.verifiers.math_verify_scorer import compare


def score(reply, label, question):
    return compare(reply, label, question)
'''  # noqa: E501
_NESTED, _LONG = 5_000, 200_000
HOSTILE = {
    "a deeply nested reply": "\\boxed{" + "(" * _NESTED + ")" * _NESTED + "}",
    "a very long reply": "9" * _LONG,
    "a reply of code": "\\boxed{__import__('os').system('true') or __import__('sys').exit(0) or 1}",
}
"""Replies that are no answer to any problem."""


@dataclass(frozen=True)
class OwnVerifier:
    """A verifier of the user's own. name: as the setting gives it. source: text of its file."""

    name: str
    function: str
    source: str

    @property
    def scorer(self) -> str:
        """Return what rows and exports call it: its name and the start of its file's hash."""
        return f"{OWN}{self.name}@{hashlib.sha256(self.source.encode()).hexdigest()[:12]}"

    @property
    def entry(self) -> str:
        """Return what a problem carries of it, as JSON text."""
        return json.dumps(
            {"name": self.name, "function": self.function, "source": self.source}, sort_keys=True
        )

    @property
    def makes_right_replies(self) -> bool:
        """Return whether its file says what a right reply to a row is."""
        return RIGHT_REPLY in _functions(self.source)

    @property
    def imports(self) -> tuple[str, ...]:
        """The modules that its file imports on the top level. Raises SyntaxError when it is no Python."""
        names: dict[str, None] = {}
        for node in parse_python(self.source).body:
            if isinstance(node, ast.Import):
                names |= dict.fromkeys(item.name for item in node.names)
            elif (
                isinstance(node, ast.ImportFrom)
                and node.module
                and not node.level
                and node.module != "__future__"
            ):
                names[node.module] = None
        return tuple(names)


@dataclass(frozen=True)
class ScoredReply:
    """One reply for a verifier of the user's own. label: as JSON value."""

    verifier: OwnVerifier
    reply: str
    label: Any
    question: str


def is_own(scorer: str) -> bool:
    """Return whether a problem's scorer is a verifier of the user's own."""
    return scorer.startswith(OWN)


def read_verifier(setting: str) -> OwnVerifier:
    """Return the verifier that a setting names.

    Raises:
        InputError: there is no such file or function, the file is too large or no Python, or math-verify is
            not installed.
    """
    if setting == MATH_VERIFY:
        try:
            installed = version("math-verify")
        except PackageNotFoundError:
            raise InputError(
                "math-verify is not installed",
                wanted="the package math-verify, for the scorer math_verify",
                do="pip install 'evolake[math]'",
            ) from None
        return OwnVerifier(f"{MATH_VERIFY}-{installed}", "score", MATH_VERIFY_SOURCE)
    place, colon, function = setting.rpartition(":")
    if not colon or not place or not function.isidentifier():
        raise InputError(
            f"the scorer {setting!r} names no function of a file",
            wanted=f"FILE.py:FUNCTION, or {MATH_VERIFY}",
            got=setting,
            do="for example EVOLAKE_PROMPTS__SCORER=checks.py:score",
        )
    path = Path(place if place.endswith(".py") else f"{place.replace('.', '/')}.py")
    try:
        source = read_text(path, MOST_BYTES)
    except (OSError, Unreadable) as error:
        raise InputError(
            f"the scorer's file {path} cannot be read",
            wanted=f"one Python file of at most {MOST_BYTES:,} bytes",
            got=reason(error),
            do="give its path from the folder that evolake is started in",
        ) from None
    return _checked(OwnVerifier(f"{path.name}:{function}", function, source), str(path))


def verifier_of(entry: str | None, where: str) -> OwnVerifier:
    """Return the verifier that a problem carries. Raises InputError: it is none; says where."""
    try:
        values = parse_json(entry or "", name="entry")
        given = {name: values[name] for name in ("name", "function", "source")}
        if (
            not all(isinstance(value, str) for value in given.values())
            or len(given["source"].encode()) > MOST_BYTES
        ):
            raise ValueError("three texts are wanted")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{where} does not carry its verifier",
            wanted='entry: {"name": ..., "function": ..., "source": ...}',
            got=reason(error),
            do="remove the columns scorer and entry, or export the problems again",
        ) from None
    return _checked(OwnVerifier(**given), where)


def _checked(verifier: OwnVerifier, where: str) -> OwnVerifier:
    """Raise InputError: it is no Python, or does not define its function."""
    try:
        defined = _functions(verifier.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(
            f"the scorer in {where} is no Python", wanted=SIGNATURE, got=str(error), do="fix the file"
        ) from None
    if verifier.function not in defined:
        raise InputError(
            f"the scorer in {where} has no function {verifier.function!r}",
            wanted=SIGNATURE,
            got=", ".join(defined) or "no function at all",
            do="name one of its functions",
        )
    return verifier


def _functions(source: str) -> list[str]:
    return [node.name for node in parse_python(source).body if isinstance(node, ast.FunctionDef)]


def right_replies(
    asked: Sequence[ScoredReply], *, pool: Any, limits: Limits = OWN_LIMITS
) -> list[ScoredReply]:
    """Return the same with right replies, as the verifiers' files make them.

    Raises:
        InputError: one of them makes none. MachineryError: the jail failed.
    """
    calls = [
        Call(
            GENERIC_DRIVER,
            item.verifier.source,
            {"function": RIGHT_REPLY, "args": [item.label, item.question]},
            limits,
        )
        for item in asked
    ]
    result = []
    for item, outcome in zip(asked, map_patiently(pool, calls, "a verifier of the user's own"), strict=True):
        if not isinstance(outcome.value, str):
            got = (
                f"{outcome.status}: {outcome.reason}" if outcome.status != "ok" else repr(outcome.value)[:60]
            )
            raise InputError(
                f"{RIGHT_REPLY} of {item.verifier.name} makes no reply",
                wanted="a text",
                got=got,
                do="fix the function",
            )
        result.append(_with_reply(item, outcome.value))
    return result


def open_own_pool(verifiers: Sequence[OwnVerifier], replies: int) -> Any:
    """Return a pool of jails, to be closed, that have imported what these verifiers import."""
    from evolake.jail import open_pool

    wanted = dict.fromkeys(name for verifier in verifiers for name in verifier.imports)
    return open_pool(
        workers=min(MOST_JAILS, os.cpu_count() or 1, 1 + replies // EACH), preload=(), wanted=tuple(wanted)
    )


def score_own(asked: Sequence[ScoredReply], *, pool: Any, limits: Limits = OWN_LIMITS) -> list[Verified]:
    """Return the scores of replies, in their order, by all workers of `pool` at the same time. A reply that
    its verifier fails on, or runs out of `limits` on, is worth 0 and says so.

    Raises:
        MachineryError: the jail failed.
    """
    return [_verified(outcome) for outcome in _outcomes(asked, pool, limits)]


def _outcomes(asked: Sequence[ScoredReply], pool: Any, limits: Limits) -> list[Outcome]:
    calls = [
        Call(
            GENERIC_DRIVER,
            item.verifier.source,
            {"function": item.verifier.function, "args": [item.reply, item.label, item.question]},
            limits,
        )
        for item in asked
    ]
    return map_patiently(pool, calls, "a verifier of the user's own")


def _verified(outcome: Outcome) -> Verified:
    score = outcome.value
    if outcome.status != "ok":
        return Verified(0.0, outcome.status)
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        return Verified(0.0, "protocol")
    return Verified(float(score))


@dataclass(frozen=True)
class Probe:
    """One reply that a verifier was tried on before any training. failure: why it gave no score, with the
    reason; "" if it did."""

    kind: str
    question: str
    reply: str
    score: float
    failure: str


def probe_verifier(
    samples: Sequence[tuple[ScoredReply, str]], *, pool: Any, limits: Limits = OWN_LIMITS
) -> list[Probe]:
    """Try a verifier on right, wrong, empty and hostile replies.

    Args:
        samples: (the reply that gives a problem's own label, a label of another problem that this one does
            not have), of a few problems.

    Raises:
        InputError: a right reply is not worth 1, or another one is; shows the replies and what was returned.
            MachineryError: the jail failed.
    """
    tried: list[tuple[str, ScoredReply]] = []
    for item, other in samples:
        tried += [
            ("a right reply", item),
            ("a wrong reply", _with_reply(item, other)),
            ("an empty reply", _with_reply(item, "")),
        ]
    tried += [(kind, _with_reply(item, text)) for item, _ in samples[:1] for kind, text in HOSTILE.items()]
    probes = [
        Probe(kind, item.question, item.reply, _verified(outcome).score, _failure(outcome))
        for (kind, item), outcome in zip(
            tried, _outcomes([item for _, item in tried], pool, limits), strict=True
        )
    ]
    wrong = [probe for probe in probes if (probe.score == 1.0) != (probe.kind == "a right reply")]
    if wrong and samples:
        name = samples[0][0].verifier.name
        raise InputError(
            f"the verifier {name} fails {len(wrong)} of {len(probes)} probes",
            wanted="1 for a reply with the row's own label, less for all others",
            got="; ".join(_probe_text(probe) for probe in wrong[:3]),
            do=f"fix the verifier ({SIGNATURE}) or the labels; nothing was trained",
        )
    return probes


def _with_reply(item: ScoredReply, reply: str) -> ScoredReply:
    return ScoredReply(item.verifier, reply, item.label, item.question)


def _failure(outcome: Outcome) -> str:
    if outcome.status != "ok":
        return f"{outcome.status}: {outcome.reason}"
    return (
        ""
        if _verified(outcome).failure is None
        else f"it returned {str(outcome.value)[:60]!r}, no number from 0 to 1"
    )


def _probe_text(probe: Probe) -> str:
    question = " ".join(probe.question.split())[:60]
    return f"{probe.kind} ({probe.reply[:40]!r} to {question!r}) is worth {probe.score:g}" + (
        f" ({probe.failure})" if probe.failure else ""
    )
