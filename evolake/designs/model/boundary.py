"""The one boundary of the designs line: what an exception means that is raised while ONE candidate is judged.

Whatever a candidate makes our code raise is its verdict, a row with the reason; a call cache that replays the
text gets the same row again. What is excepted are the failures that no candidate can bring about:
`evolake.gates.boundary` names them for all lines. Here an InputError is the candidate's too, for this line's
parsers raise it for the texts that they read; `alone(passing=(InputError,))` is for what the *user* asked.
Reasons have the words of all lines, so that `evolake.gates.boundary` finds them: "judging it raised
ValueError at trace.py:120: ...".

A MemoryError is the candidate's: what a candidate may use is bounded beforehand, so on the host it comes from
one absurd request, not from a machine that is full (that one is killed by the kernel, which is a broken
pool).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from evolake.errors import InputError
from evolake.gates import boundary

LONGEST_REASON = 400
Result = TypeVar("Result")


def is_machinery(error: BaseException) -> bool:
    """Return whether `error` is a failure of ours, to be raised, and not a candidate's."""
    return boundary.is_machinery(error) and not isinstance(error, InputError)


def reason_of(error: BaseException) -> str:
    """Return one line about an exception, of printable characters, whatever its text is or does."""
    try:
        text = str(error)[: 4 * LONGEST_REASON]
    except Exception:
        text = "an error without words"
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return f"{type(error).__name__}: {line}"[:LONGEST_REASON]


def shown(value: object, most: int = 80) -> str:
    """Return `value` for a message. A number of thousands of digits, or a thing whose repr raises, is named
    by its type."""
    try:
        return repr(value)[:most]
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"


def alone(
    judge: Callable[[], Result],
    blocked: Callable[[str], Result],
    *,
    passing: tuple[type[Exception], ...] = (),
) -> Result:
    """Return what `judge` gives for one candidate; what it raises becomes `blocked(reason)`, with the reason
    of `evolake.gates.boundary.Raised`.

    Args:
        passing: further exceptions that are the caller's own business (an InputError about what the *user*
            asked for).

    Raises:
        whatever `judge` raises and `is_machinery` calls ours, and `passing`.
    """
    try:
        return judge()
    except BaseException as error:  # a panic of a Rust library is no Exception
        if is_machinery(error) or isinstance(error, passing):
            raise
        return blocked(boundary.raised(error).reason)
