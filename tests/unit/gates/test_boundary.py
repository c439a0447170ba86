"""What judging one candidate raises is its block, whatever it is; what says something about our machinery
passes through, and that list is short."""

import ast
import errno
import json
from concurrent.futures import BrokenExecutor
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from evolake.errors import (
    AgentUnavailable,
    BudgetExhausted,
    CorruptPart,
    InputError,
    JailUnavailable,
    MachineryError,
    PartitionBusy,
)
from evolake.gates import Finding, GateSpec, Raised, Ruleset, checker, contained, is_machinery, run_gates
from evolake.gates.boundary import MACHINERY
from evolake.gates.rules import parse_rule
from evolake.reading import Bomb, Unparsable, Unreadable, parse_json, read_bytes

RULES = Ruleset(
    "toy",
    (
        parse_rule(
            "---\nid: one\nversion: 1\nkind: static\ngate: only\ncheck: test.boundary\n---\nWhy.\n", "one.md"
        ),
    ),
)


@checker("test.boundary")
def fits(evidence) -> Finding | None:
    return Finding("too large") if int(evidence["value"]) > 3 else None


def deep() -> None:
    ast.unparse(ast.parse("+".join(["1"] * 5000)))


def long_number() -> int:
    return int("7" * 5000)


def overflow() -> float:
    return float(Fraction(10**400, 3))


def surrogate() -> bytes:
    return "\ud800".encode()


def name_too_long() -> None:
    Path("x" * 5000).read_bytes()


def nul_in_a_name() -> None:
    Path("a\0b").read_bytes()


def unsortable() -> list:
    return sorted([1, "a", None])  # type: ignore[list-item]


def table() -> pl.DataFrame:
    return pl.DataFrame({"a": [1]}).select("b")


def nested() -> object:
    return parse_json("[" * 100_000, name="the reply")


def endless() -> bytes:
    return read_bytes(Path("/dev/zero"), 100)


POISON = (
    nested,
    endless,
    deep,
    long_number,
    overflow,
    surrogate,
    name_too_long,
    nul_in_a_name,
    unsortable,
    table,
)


def verdict(collect):
    return run_gates(
        "text", [GateSpec(0, "only", collect)], RULES, artifact_id="a", cycle="0001", run_id="r"
    ).verdicts[0]


@pytest.mark.parametrize("poison", POISON, ids=lambda item: item.__name__)
def test_what_a_text_makes_our_code_raise_is_a_block_with_its_reason(poison):
    with pytest.raises(Exception) as caught:
        poison()
    result = verdict(lambda _: poison())
    assert (result.outcome, result.rule_id) == ("block", "one")
    assert type(caught.value).__name__ in result.reason and result.reason.isprintable()


def test_what_a_checker_raises_is_a_block_too_and_is_no_bad_parameter():
    result = verdict(lambda _: {"value": None})  # int(None) says "argument"
    assert result.outcome == "block" and "TypeError" in result.reason
    assert verdict(lambda _: {"value": "9" * 5000}).outcome == "block"
    assert verdict(lambda _: {"value": 1}).outcome == "pass"


OURS = (
    MachineryError("m"),
    JailUnavailable("j"),
    CorruptPart("c"),
    PartitionBusy("p"),
    AgentUnavailable("a"),
    BudgetExhausted("b"),
    InputError("i"),
    OSError(errno.ENOSPC, "disk full"),
    OSError(errno.EIO, "bad disk"),
    OSError(errno.ENOMEM, "no memory"),
    OSError(errno.EMFILE, "files"),
    OSError(errno.EACCES, "no permission"),
    FileNotFoundError(errno.ENOENT, "gone"),
    TimeoutError("a lock"),
    BrokenPipeError(),
    BrokenExecutor("pool"),
    BrokenProcessPool("pool"),
    ImportError("torch"),
    NameError("x"),
    RuntimeError("can't start new thread"),
    KeyboardInterrupt(),
    SystemExit(1),
    GeneratorExit(),
)
THEIRS = (
    ValueError(),
    TypeError(),
    KeyError("k"),
    OverflowError(),
    ZeroDivisionError(),
    RecursionError(),
    MemoryError(),
    UnicodeError(),
    IndexError(),
    AttributeError(),
    AssertionError(),
    SyntaxError(),
    RuntimeError("x"),
    StopIteration(),
    ArithmeticError(),
    LookupError(),
    BufferError(),
    OSError(errno.ENAMETOOLONG, "name"),
    OSError(errno.EILSEQ, "name"),
    OSError(errno.ENOTDIR, "name"),
    Unparsable("u"),
    Unreadable("u"),
    Bomb("b"),
)


@pytest.mark.parametrize("error", OURS, ids=repr)
def test_a_failure_of_our_machinery_is_no_verdict(error):
    def fail(_):
        raise error

    assert is_machinery(error)
    with pytest.raises(type(error)):
        verdict(fail)


@pytest.mark.parametrize("error", THEIRS, ids=repr)
def test_every_other_exception_is_the_candidates(error):
    def fail():
        raise error

    assert not is_machinery(error)
    result = contained(fail)
    assert isinstance(result, Raised) and result.error == type(error).__name__


def test_the_list_of_machinery_failures_is_the_documented_one():
    assert [kind.__name__ for kind in MACHINERY] == [
        "EvolakeError",
        "OSError",
        "BrokenExecutor",
        "ImportError",
        "NameError",
    ]


def test_a_panic_of_a_rust_library_is_an_error_and_no_exit():
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})

    def fail():
        raise panic("index out of bounds")

    assert contained(fail) == Raised("PanicException", "index out of bounds", "unknown")


def test_the_reason_of_a_hostile_message_is_one_short_printable_line():
    class Nasty(ValueError):
        def __str__(self) -> str:
            return "a\ud800\n\0" * 10_000

    class Mute(ValueError):
        def __str__(self) -> str:
            raise RecursionError

    def fail(error):
        raise error

    for error in (Nasty(), Mute()):
        result = contained(fail, error)
        assert isinstance(result, Raised) and result.reason.isprintable() and len(result.reason) < 600
        json.dumps(result.reason, ensure_ascii=False).encode()


def test_what_is_returned_within_the_boundary_is_returned():
    assert contained(lambda first, *, other: first + other, 1, other=2) == 3
