"""What counts as a cycle in which every proposal failed."""

from __future__ import annotations

import pytest

from evolake.agents.answered import answered

PROPOSES = ("coder",)


@pytest.mark.parametrize(("attempts", "failed"), [
    ([], False),
    ([("coder", "ok")], False),
    ([("coder", "invalid"), ("coder", "replayed+ok")], False),
    ([("coder", "replayed"), ("coder", "truncated")], False),
    ([("coder", "invalid")], True),
    ([("lookup", "ok"), ("coder", "invalid+no_usage"), ("coder", "replayed+empty")], True),
    ([("lookup", "garbled")], True),
    ([("lookup", "ok"), ("lookup", "lost+no_usage")], False),
    ([("coder", "ok+odd_usage+answered_by:other")], False),
], ids=str)
def test_a_cycle_failed_where_no_proposal_came_of_what_was_asked(attempts: list[tuple[str, str]], failed: bool) -> None:
    assert answered([{"role": role, "status": status} for role, status in attempts], PROPOSES).failed == failed


def test_what_failed_is_counted_by_its_word() -> None:
    rows = [{"role": "coder", "status": status} for status in ("invalid", "replayed+truncated", "invalid+no_usage", "ok")]
    assert answered(rows, PROPOSES).words == "4 attempts, 1 with a valid reply (invalid 2, truncated 1)"
