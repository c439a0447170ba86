"""The boundary around one candidate: whatever judging it raises is its block, and a failure of our equipment
is an exception.

Text by a candidate reaches parsers, arithmetic and tables on the host, and some of it makes them raise: a
tree too deep for the stack, a number too long to convert, half a surrogate pair. Replies are replayed from
the call cache, so an exception that escapes stops the line at the same place for ever. Hence one rule: where
*one* candidate is judged, code runs inside `contained`; what it raises becomes a `Raised`, the reason of a
block.

Only what `is_machinery` names passes through, because it says something about us and nothing about the
candidate:

    EvolakeError               ours, and typed: a dead jail, a damaged lake, a spent budget, a rule file or a
                               setting that cannot be used; not what a bounded reader says of a text
                               (OF_A_TEXT)
    OSError                    disk, memory, processes, permissions; not the few errors that a *name* alone
                               can cause (OF_A_NAME)
    BrokenExecutor             a pool of ours lost a worker; a line that runs candidates in workers assigns
                               their deaths before this
    ImportError, NameError     no text can cause them: our installation is not whole, or our code is wrong
    RuntimeError               "can't start new thread" alone: the machine is out of threads
    BaseException              interrupts and exits; but a panic of a Rust library (complexipy, polars) is an
                               error like any other

A library between us and the candidate must not turn its words into one of these: what reads candidate text
and raises InputError for people is called with its InputError taken as a value.

Candidates have little in common but the code that judges them. So if several raise at one place, or as one
class of error, or a large share of a cycle does, a person is asked to look; nothing is stopped, for a strange
candidate can do the same.
"""

from __future__ import annotations

import errno
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeVar

from evolake.errors import EvolakeError
from evolake.jail.protocol import one_line
from evolake.reading import Unparsable, Unreadable

MACHINERY: tuple[type[BaseException], ...] = (EvolakeError, OSError, BrokenExecutor, ImportError, NameError)
"""Exceptions that say nothing about a candidate."""
OF_A_NAME = frozenset(
    {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.ELOOP, errno.ENOTDIR, errno.EISDIR}
)
"""What a text used as a file name can cause on a sound machine."""
OF_A_TEXT = (Unparsable, Unreadable)
"""What the bounded readers (`evolake.reading`) raise of a text or file: the candidate's, because files of
ours are named by those who read them."""
PANIC = "pyo3_runtime"
"""The module of the panics of Rust libraries, which are no `Exception`."""
RAISED = "raised"
"""Key of evidence that could not be collected: its value is the reason."""
LONGEST_REASON = 400
OPENING = "judging it raised"
"""How the reason of every such block begins, in every line; `read_reason` knows the rest of it."""
_REASON = re.compile(rf"{OPENING} (\S+) at (unknown|[^\s:]+:\d+)(?:[:;] (.*))?", re.DOTALL)
_HERE = PurePath(__file__)
_OURS = _HERE.parents[1]
T = TypeVar("T")


@dataclass(frozen=True)
class Raised:
    """What judging one candidate raised. error: the class. message: one line. place: file and line of ours
    where it came up."""

    error: str
    message: str
    place: str

    @property
    def reason(self) -> str:
        """One line for a verdict."""
        return f"{OPENING} {self.error} at {self.place}" + (f": {self.message}" if self.message else "")

    def evidence(self) -> dict[str, Any]:
        """Return evidence that every rule of its gate blocks; see `raised_in`."""
        return {RAISED: self.reason}


def is_machinery(error: BaseException) -> bool:
    """Return whether this exception is our own failure and must not be taken for the candidate's."""
    if isinstance(error, OF_A_TEXT):
        return False
    if isinstance(error, OSError):
        return error.errno not in OF_A_NAME
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return True
    if isinstance(error, MACHINERY):
        return True
    return not isinstance(error, Exception) and type(error).__module__ != PANIC


def contained(judging: Callable[..., T], *arguments: Any, **options: Any) -> T | Raised:
    """Return `judging(*arguments, **options)`, or what it raised. Machinery failures and interrupts pass
    through."""
    try:
        return judging(*arguments, **options)
    except BaseException as error:
        if is_machinery(error):
            raise
        return raised(error)


def raised(error: BaseException) -> Raised:
    """Return the value that stands for an exception; never raises itself."""
    try:
        message = one_line(str(error), LONGEST_REASON)
    except Exception:
        message = "(its message cannot be shown)"
    return Raised(type(error).__name__, message, _place(error))


def read_reason(reason: str | None) -> Raised | None:
    """Return what raised, from the reason of a block; None for any other reason."""
    match = _REASON.fullmatch(reason or "")
    return Raised(match[1], match[3] or "", match[2]) if match else None


def raised_in(evidence: Mapping[str, Any]) -> str:
    """Return the reason in evidence that could not be collected, "" in any other."""
    result = evidence.get(RAISED, "") if isinstance(evidence, Mapping) else ""
    return result if isinstance(result, str) else ""


def _place(error: BaseException) -> str:
    """Return the innermost frame of evolake's own code, `parts.py:70`, or of the folder of code that gates
    call: a line may be outside evolake.

    A stack of a thousand frames is walked once.
    """
    result, own, called_by_gates = "unknown", [_OURS], False
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = PurePath(frame.f_code.co_filename)
        if path.name == _HERE.name and path.is_relative_to(_OURS):
            continue  # this wall, and that of a line
        if called_by_gates and not path.is_relative_to(_OURS):
            own.append(path.parent)
        if any(path.is_relative_to(folder) for folder in own):
            result = f"{path.name}:{line}"
        called_by_gates = path.parent == _HERE.parent
    return result


FEWEST = 2
"""Candidates that raise alike before somebody has to look."""
SHARE = 0.2
"""Of a cycle's candidates, whatever they raised; more than this."""


@dataclass(frozen=True)
class Judged:
    """One candidate at one gate. reason: why it was blocked there, None or "" where it was not."""

    candidate: str
    gate: str
    reason: str | None


@dataclass(frozen=True)
class Place:
    """What was raised at one place of ours. raised: the first of its kind. candidates, gates: in order, none
    twice."""

    raised: Raised
    candidates: tuple[str, ...]
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Faults:
    """What judging raised in a cycle. candidates: all that were judged. places: those that most candidates
    met first."""

    candidates: int
    raised: int
    places: tuple[Place, ...]

    @property
    def share(self) -> float:
        """Of the candidates, those whose judging raised; 0 if there are none."""
        return self.raised / self.candidates if self.candidates else 0.0


def find_faults(judged: Iterable[Judged]) -> Faults:
    """Return everything that judging raised, by class and place."""
    everyone: set[str] = set()
    matches: dict[tuple[str, str], list[tuple[Judged, Raised]]] = {}
    for item in judged:
        everyone.add(item.candidate)
        if raised := read_reason(item.reason):
            matches.setdefault((raised.place, raised.error), []).append((item, raised))
    places = [
        Place(
            met[0][1],
            tuple(sorted({item.candidate for item, _ in met})),
            tuple(sorted({item.gate for item, _ in met})),
        )
        for met in matches.values()
    ]
    raising = {candidate for place in places for candidate in place.candidates}
    places.sort(key=lambda place: (-len(place.candidates), place.raised.place, place.raised.error))
    return Faults(len(everyone), len(raising), tuple(places))


def suspicion(faults: Faults) -> str:
    """Return why these look like a fault of ours, one line; "" where they do not."""
    why = [
        f"{len(who)} of them at {place}"
        for place, who in _alike(faults, "place").items()
        if place != "unknown"
    ]
    why += [f"{len(who)} of them with {error}" for error, who in _alike(faults, "error").items()]
    if not why and faults.share <= SHARE:
        return ""
    return f"judging {faults.raised} of {faults.candidates} candidates raised an error" + "".join(
        f", {item}" for item in why
    )


def _alike(faults: Faults, key: str) -> dict[str, set[str]]:
    """Places, or classes of errors, that at least FEWEST candidates met -> who met them."""
    groups: dict[str, set[str]] = {}
    for place in faults.places:
        groups.setdefault(getattr(place.raised, key), set()).update(place.candidates)
    return {name: who for name, who in groups.items() if len(who) >= FEWEST}
