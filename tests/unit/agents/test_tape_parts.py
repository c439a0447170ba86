"""The parts under the model backend: keys, entries, accounts, prices, envelopes and JSON in text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddReply
from hypothesis import given
from hypothesis import strategies as st

from evolake.agents.budget import Account, Budget
from evolake.agents.call_cache import CachedCall, CallCache, cache_key
from evolake.agents.calls import Usage
from evolake.agents.prices import Counts, read_counts
from evolake.agents.reply_validation import Received, billed, read_completion, validate_text
from evolake.errors import BudgetExhausted, CorruptPart
from evolake.settings import BudgetSettings

ASKED: dict[str, Any] = {
    "role": "r",
    "model": "m",
    "messages": [{"role": "user", "content": "x"}],
    "schema": {"a": 1},
    "sampling": {"max_output_tokens": 1},
    "attempt": 0,
}


def entry(key: str, content: str = "{}") -> CachedCall:
    return CachedCall(
        key=key,
        role="r",
        model="m",
        attempt=0,
        sampling={},
        messages=[],
        schema_sha="s",
        outcome="received",
        detail="",
        content=content,
        input_tokens=1,
        cached_tokens=None,
        output_tokens=2,
        charged_tokens=3,
        usd=None,
        charged_usd=0.0,
        latency_s=0.1,
        created_at="t",
        line="l",
        cycle="0001",
        run_id="r",
    )


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("role", "s"),
        ("model", "n"),
        ("messages", []),
        ("schema", {}),
        ("sampling", {"temperature": 0.5}),
        ("attempt", 1),
    ],
)
def test_every_part_of_what_is_asked_changes_the_key(part: str, other: Any) -> None:
    assert cache_key(**ASKED) == cache_key(**json.loads(json.dumps(ASKED)))
    assert cache_key(**ASKED) != cache_key(**(ASKED | {part: other}))


def test_the_first_entry_of_a_key_stays(tmp_path: Path) -> None:
    tape, key = CallCache(tmp_path), "ab" * 32
    assert tape.read(key) is None
    tape.write(entry(key, "first"))
    tape.write(entry(key, "second"))
    assert tape.read(key) == entry(key, "first")
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()] == [
        Path("ab", "ab" * 31 + ".json")
    ]


def test_the_nearest_entry_is_named_with_its_first_other_line(tmp_path: Path) -> None:
    tape = CallCache(tmp_path)
    said = {"ab" * 32: "plan\none\ntwo", "cd" * 32: "plan\none\nthree\nfour", "ef" * 32: "other"}
    for key, text in said.items():
        tape.write(replace(entry(key), messages=[{"role": "user", "content": text}]))
    asked = [{"role": "user", "content": "plan\none\nthree"}]
    assert (
        tape.nearest("r", asked)
        == "its nearest entry cdcdcdcdcdcd has 'four' in line 5 where this call has 'its end'"
    )
    assert tape.nearest("another role", asked) == ""


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"{}", b'{"format": 1, "sha": "0", "entry": {}}'])
def test_a_damaged_entry_is_an_error(tmp_path: Path, damage: bytes) -> None:
    tape, key = CallCache(tmp_path), "ab" * 32
    tape.write(entry(key))
    tape.path(key).write_bytes(damage)
    with pytest.raises(CorruptPart, match="entry abababababab of the call cache is damaged"):
        tape.read(key)


def test_an_entry_under_another_key_is_damaged(tmp_path: Path) -> None:
    tape, key = CallCache(tmp_path), "ab" * 32
    tape.write(entry("cd" * 32))
    tape.path(key).parent.mkdir()
    tape.path("cd" * 32).rename(tape.path(key))
    with pytest.raises(CorruptPart, match="it holds the key cdcd"):
        tape.read(key)


def test_an_account_counts_each_attempt_once_over_all_processes_and_passes_over_torn_lines(
    tmp_path: Path,
) -> None:
    first, second = Account(tmp_path / "a.jsonl"), Account(tmp_path / "a.jsonl")
    first.add("k1", Usage(1, 10, 0.5))
    first.add("k1", Usage(1, 10, 0.5))
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'{"key": "torn", "tok')
    second.add("k2", Usage(1, 5, 0.25))
    first.refresh()
    assert first.total == second.total == Usage(2, 15, 0.75)


def test_a_call_that_fails_gives_its_reservation_back(tmp_path: Path) -> None:
    budget = Budget(
        BudgetSettings(tokens_per_run=10),
        CallCache(tmp_path),
        line="designs",
        cycle="0001",
        run_id="../odd id",
    )
    with pytest.raises(ZeroDivisionError), budget.reserve(Usage(1, 10, 0.0)):
        raise ZeroDivisionError
    with budget.reserve(Usage(1, 10, 0.0)) as reservation:
        reservation.book("k", Usage(1, 4, 0.0))
    with budget.reserve(Usage(1, 6, 0.0)):
        pass
    with (
        pytest.raises(BudgetExhausted, match="budget of 10 tokens per run"),
        budget.reserve(Usage(1, 7, 0.0)),
    ):
        pass
    assert budget.spent() == (Usage(1, 4, 0.0), Usage(1, 4, 0.0))
    assert {path.parent for path in tmp_path.rglob("*.jsonl")} == {tmp_path / "accounts"}


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=12), st.integers(0, 200))
def test_spending_within_estimates_never_passes_the_limit(calls: list[tuple[int, int]], limit: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        budget = Budget(
            BudgetSettings(tokens_per_cycle=limit),
            CallCache(Path(folder)),
            line="l",
            cycle="0001",
            run_id="r",
        )
        for number, (estimate, share) in enumerate(calls):
            try:
                with budget.reserve(Usage(1, estimate, 0.0)) as reservation:
                    reservation.book(str(number), Usage(1, min(estimate, share), 0.0))
            except BudgetExhausted:
                continue
        assert budget.spent()[0].tokens <= limit


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": 1}, None),
        ({"prompt_tokens": -1, "completion_tokens": 2}, None),
        ({"prompt_tokens": True, "completion_tokens": 2}, None),
        ({"prompt_tokens": "1", "completion_tokens": 2}, None),
        ({"prompt_tokens": 5, "completion_tokens": 2}, Counts(5, 2)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, Counts(5, 2)),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}},
            Counts(5, 2, 3),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}},
            Counts(5, 2, 5),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}, Counts(5, 2, 4)),
    ],
)
def test_usage_is_read_or_taken_as_absent(usage: Any, counts: Counts | None) -> None:
    assert read_counts(usage) == counts


def test_an_error_with_status_200_is_empty_and_not_billed() -> None:
    received = read_completion('{"error": {"code": 502, "message": "upstream is down"}}')
    assert (received.outcome, billed(received)) == ("empty", False)
    assert "upstream is down" in received.detail
    assert billed(Received("empty", "", counts=Counts(1, 0))) and billed(Received("garbled", "x"))


FIELDS = st.sampled_from(
    ["choices", "message", "content", "refusal", "finish_reason", "usage", "text", "prompt_tokens"]
)
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


@given(BODIES)
def test_no_body_of_any_shape_raises(body: Any) -> None:
    for wrapped in (
        body,
        {"choices": body},
        {"choices": [body]},
        {"choices": [{"message": body}]},
        {"choices": [{"message": {"content": body}}]},
    ):
        assert read_completion(json.dumps(wrapped)).outcome in (
            "received",
            "truncated",
            "refused",
            "empty",
            "garbled",
        )


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 50_000, "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace")],
)
def test_nesting_without_end_is_garbled(text: str) -> None:
    assert read_completion(text).outcome == "garbled"
    assert isinstance(validate_text(text, AddReply), str)


@given(st.integers(), st.text(alphabet="ab c\n", max_size=20), st.text(alphabet="ab c\n", max_size=20))
def test_an_object_is_found_among_words_and_fences(total: int, before: str, after: str) -> None:
    bare = json.dumps({"total": total})
    for text in (
        f"{before}{bare}{after}",
        f"{before}\n```json\n{bare}\n```\n{after}",
        f"{before}\n~~~\n{bare}\n~~~\n{after}",
    ):
        assert validate_text(text, AddReply) == AddReply(total=total)
