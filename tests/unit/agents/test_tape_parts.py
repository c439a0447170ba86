"""The parts under the model backend: keys, entries, accounts, prices, envelopes and JSON in text."""

import gzip
import json
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest
from agent_backend_fixtures import AddReply
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolake.agents.budget import Account, Budget
from evolake.agents.call_cache import CachedCall, CallCache, cache_key
from evolake.agents.calls import Usage
from evolake.agents.http_client import Undecodable, decoded
from evolake.agents.prices import Counts, plausible, read_counts, same_model
from evolake.agents.reply_validation import Received, billed, read_completion, validate_text
from evolake.errors import BudgetExhausted, CorruptPart, LakeError
from evolake.reading.json_text import values_of
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
def test_every_part_of_what_is_asked_changes_the_key(part, other):
    assert cache_key(**ASKED) == cache_key(**json.loads(json.dumps(ASKED)))
    assert cache_key(**ASKED) != cache_key(**(ASKED | {part: other}))


def test_the_first_entry_of_a_key_stays(tmp_path):
    tape, key = CallCache(tmp_path), "ab" * 32
    assert tape.read(key) is None
    tape.write(entry(key, "first"))
    tape.write(entry(key, "second"))
    assert tape.read(key) == entry(key, "first")
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()] == [
        Path("ab", "ab" * 31 + ".json")
    ]


def test_an_entry_under_another_key_is_damaged(tmp_path):
    tape, key = CallCache(tmp_path), "ab" * 32
    tape.write(entry("cd" * 32))
    tape.path(key).parent.mkdir()
    tape.path("cd" * 32).rename(tape.path(key))
    with pytest.raises(CorruptPart, match="it holds the key cdcd"):
        tape.read(key)


def test_an_account_counts_each_attempt_once_over_all_processes_and_passes_over_torn_lines(tmp_path):
    first, second = Account(tmp_path / "a.jsonl"), Account(tmp_path / "a.jsonl")
    first.add("k1", Usage(1, 10, 0.5))
    first.add("k1", Usage(1, 10, 0.5))
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'{"key": "torn", "tok')
    second.add("k2", Usage(1, 5, 0.25))
    first.refresh()
    assert first.total == second.total == Usage(2, 15, 0.75)


def test_a_call_that_fails_gives_its_reservation_back(tmp_path):
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
def test_spending_within_estimates_never_passes_the_limit(calls, limit):
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
def test_usage_is_read_or_taken_as_absent(usage, counts):
    assert read_counts(usage) == counts


FIELDS = st.sampled_from(
    ["choices", "message", "content", "refusal", "finish_reason", "usage", "text", "prompt_tokens"]
)
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


@given(BODIES)
def test_no_body_of_any_shape_raises(body):
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
def test_nesting_without_end_is_garbled(text):
    assert read_completion(text).outcome == "garbled"
    assert isinstance(validate_text(text, AddReply), str)


# What a server sends is bounded before anything is built of it, and what it says of itself is compared
# with what can be true.


def completion(content: str) -> str:
    return json.dumps(
        {
            "model": "m",
            "choices": [{"message": {"content": content}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9},
        }
    )


VALUES = st.recursive(
    st.none() | st.text(max_size=9) | st.integers(),
    lambda item: st.lists(item, max_size=5) | st.dictionaries(st.text(max_size=5), item, max_size=5),
    max_leaves=15,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_no_text_holds_more_values_than_are_counted(value):
    def count(item: Any) -> int:
        if isinstance(item, dict):
            parts = item.values()
        elif isinstance(item, list):
            parts = item
        else:
            parts = ()
        return 1 + sum(map(count, parts))

    assert values_of(json.dumps(value)) >= count(value)


CROWDS = {
    "objects": "[" + "{}," * 1_300_000 + "{}]",
    "lists": "[" + "[]," * 1_300_000 + "[]]",
    "numbers": "[" + "1," * 1_900_000 + "1]",
    "keys": "{" + ",".join(f'"{n:x}":1' for n in range(101_000)) + "}",
    "behind a quote": 'said " [' + "{}," * 1_300_000 + "{}]",
    "behind two quotes": 'He said "so" and " then {"a": [' + "{}," * 900_000 + "{}]}",
}


@pytest.mark.parametrize("name", CROWDS)
def test_four_megabytes_of_empty_values_are_not_built(name):
    """Five million objects of 16 MB take gigabytes; the bound holds for the envelope and for the text within
    it."""
    text = CROWDS[name]
    wrapped = completion(text)
    tracemalloc.start()
    try:
        outcome, wrong = read_completion(text).outcome, validate_text(text, AddReply)
        inside = read_completion(wrapped)
        again = validate_text(inside.content, AddReply)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome in ("too_large", "garbled") and isinstance(wrong, str) and isinstance(again, str)
    assert inside.outcome == "received"
    assert peak < 12 * len(text) + 10_000_000


@pytest.mark.parametrize("make", [gzip.compress, zlib.compress])
def test_a_compressed_body_is_unpacked_in_steps(make):
    name = "gzip" if make is gzip.compress else "deflate"
    bomb = make(b"\0" * 50_000_000)
    taken = 0
    for chunk in decoded([bomb[:1000], bomb[1000:]], name):
        assert len(chunk) <= 1 << 20
        taken += len(chunk)
        if taken > 300_000:
            break
    assert 300_000 < taken <= 2 << 20
    assert b"".join(decoded([make(b"abc" * 999)], name)) == b"abc" * 999


def test_an_encoding_nobody_asked_for_and_a_broken_body_are_refused():
    assert list(decoded([b"a"], "identity")) == [b"a"]
    assert list(decoded([], "gzip")) == []  # an answer without a body
    for encoding in ("br", "zstd", "gzip, br", "x" * 999):
        with pytest.raises(Undecodable, match="not asked for"):
            list(decoded([b"a"], encoding))
    with pytest.raises(Undecodable, match="broken"):
        list(decoded([b"no gzip"], "gzip"))


@pytest.mark.parametrize(
    ("counts", "believed"),
    [
        (Counts(100, 20), True),
        (Counts(0, 0), False),
        (Counts(0, 20), False),
        (Counts(100, 0), False),
        (Counts(9, 20), False),
        (Counts(11, 20), True),
        (Counts(2**52, 20), False),
        (Counts(100, 2**52), False),
        (Counts(400, 30_000), False),
        (Counts(400, 8192), True),
        (Counts(2000, 12_000), True),
    ],
)
def test_counts_are_believed_where_they_can_be_true(counts, believed):
    assert plausible(counts, 360, "x" * 60, 8192) == believed


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("m", "m", True),
        ("m", "", True),
        ("M", "m", True),
        ("gpt-x", "gpt-x-2025-04-14", True),
        ("gpt-x", "gpt-x-0613", True),
        ("vendor/llama-x", "llama-x", True),
        ("llama-x", "/models/llama-x.gguf", True),
        ("m-latest", "m-20250101", True),
        ("m-latest", "m", True),
        ("m", "m-latest", True),
        ("m", "m:latest", True),
        ("gpt-x", "gpt-x-mini", False),
        ("gpt-x", "gpt-x-mini-2025-04-14", False),
        ("gpt-x", "gpt", False),
        ("gpt-x-2025-04-14", "gpt-x-2024-01-01", False),
        ("large", "small", False),
        ("m", "m2", False),
        ("m", "m-2-mini", False),
    ],
)
def test_a_snapshot_is_its_model_and_a_sibling_is_another(asked, answered, same):
    assert same_model(asked, answered) == same


@pytest.mark.parametrize(
    "text",
    [
        "\n".join("`" * n for n in range(3, 900)),
        "```\n" * 50_000,
        "~~~x\n" * 50_000,
        "`" * 400_000,
        "```\n" + "x\n" * 100_000,
    ],
)
def test_fences_of_any_kind_are_found_in_one_pass(text):
    assert isinstance(validate_text(text, AddReply), str)


def taped(key: str) -> CachedCall:
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
        content="{}",
        input_tokens=1,
        cached_tokens=None,
        output_tokens=2,
        charged_tokens=3,
        usd=None,
        charged_usd=0.0,
        latency_s=0.1,
        created_at="t",
        line="l",
        cycle="1",
        run_id="r",
    )


KEY = "ab" * 32


@pytest.mark.parametrize("bit", range(0, 4000, 37))
def test_an_entry_with_any_bit_turned_is_never_an_answer(tmp_path, bit):
    tape = CallCache(tmp_path)
    tape.write(taped(KEY))
    data = bytearray(tape.path(KEY).read_bytes())
    place = bit // 8 % len(data)
    data[place] ^= 1 << bit % 8
    tape.path(KEY).write_bytes(bytes(data))
    try:
        assert tape.read(KEY) == taped(KEY)  # white space and the spelling of JSON may change, nothing else
    except CorruptPart as error:
        assert error.what and error.wanted and error.got and error.do


@pytest.mark.parametrize(
    "damage",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 5000,
        b"null",
        b"[]",
        b'{"format": 1, "sha": "0", "entry": [1]}',
    ],
)
def test_an_entry_of_another_kind_is_damaged(tmp_path, damage):
    tape = CallCache(tmp_path)
    tape.write(taped(KEY))
    tape.path(KEY).write_bytes(damage)
    with pytest.raises(CorruptPart):
        tape.read(KEY)


def test_what_the_system_says_of_the_tape_is_an_error_with_what_to_do(tmp_path):
    """A folder in the place of a file, a file in the place of a folder: root is refused these as well."""
    tape = CallCache(tmp_path / "tape")
    tape.path(KEY).mkdir(parents=True)
    (tmp_path / "flat").write_text("")
    flat = CallCache(tmp_path / "flat")
    steps: list[Any] = [
        lambda: tape.read(KEY),
        lambda: flat.read(KEY),
        lambda: flat.write(taped(KEY)),
        lambda: flat.lock(KEY).__enter__(),
    ]
    account = tmp_path / "account"
    account.mkdir()
    steps += [lambda: Account(account).refresh(), lambda: Account(account).add("k", Usage(1, 1, 0.0))]
    steps += [lambda: Account(tmp_path / "flat" / "a").add("k", Usage(1, 1, 0.0))]
    for step in steps:
        with pytest.raises(LakeError) as caught:
            step()
        assert caught.value.what and caught.value.wanted and caught.value.got and caught.value.do


def test_lines_of_an_account_that_no_call_wrote_are_passed_over(tmp_path):
    path = tmp_path / "account.jsonl"
    good = {"key": "a", "tokens": 5, "usd": 0.5}
    bad = [
        '{"key": "b", "tokens": -9, "usd": 0}',
        '{"key": "c", "tokens": 1, "usd": -5}',
        '{"key": "d", "tokens": 1e999, "usd": 0}',
        '{"key": "e", "tokens": 1, "usd": NaN}',
        '{"key": "f", "tokens": 1, "usd": Infinity}',
        '{"key": 7, "tokens": 1, "usd": 0}',
        "[" * 9000,
        "9" * 5000,
        "null",
        '"x"',
        '{"key": "g", "tokens": true, "usd": 0}',
        "\x00\xff",
    ]
    path.write_text("\n".join([*bad, json.dumps(good), *bad]) + "\n", encoding="latin-1")
    account = Account(path)
    account.refresh()
    assert account.total == Usage(1, 5, 0.5)


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"{}", b'{"format": 1, "sha": "0", "entry": {}}'])
def test_a_damaged_entry_is_an_error(tmp_path, damage):
    tape, key = CallCache(tmp_path), "ab" * 32
    tape.write(entry(key))
    tape.path(key).write_bytes(damage)
    with pytest.raises(CorruptPart, match="entry abababababab of the call cache is damaged"):
        tape.read(key)


def test_an_error_with_status_200_is_empty_and_not_billed():
    received = read_completion('{"error": {"code": 502, "message": "upstream is down"}}')
    assert (received.outcome, billed(received)) == ("empty", False)
    assert "upstream is down" in received.detail
    assert billed(Received("empty", "", counts=Counts(1, 0))) and billed(Received("garbled", "x"))
