"""Count what came of the calls of a proposing asset: a cycle in which every proposal failed is reported, and
a few in a row are an error.

A proposal failed if no valid reply came of it. A reply whose candidate the gates blocked is a proposal like
another. A session is one reply, valid if it was finished, however many turns it took. A session that was
withdrawn brought no proposal and did not fail: a cycle with one is no failed cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evolake.agents.calls import failure_of
from evolake.errors import AgentUnavailable

FINISHED, WITHDRAWN, UNFINISHED = "finished", "withdrawn", "unfinished"
"""Outcomes of a session that brought a reply and of one that says there is none to bring, and what one is
called that has none yet."""


@dataclass(frozen=True)
class ProposalOutcomes:
    """What came of the attempts of one asset; a session is one.

    attempts: all. valid: those that brought a valid reply. proposed: those of them by a role whose reply is a
    proposal. proposing: attempts of such roles. failures: status word -> attempts that ended with it.
    withdrawn: sessions that ended without a proposal because they found no gain; they are in `attempts` and
    `proposing`, and in no other number.
    """

    attempts: int
    valid: int
    proposed: int
    proposing: int
    failures: Mapping[str, int]
    withdrawn: int = 0

    @property
    def failed(self) -> bool:
        """Whether every proposal failed: none came of those that were asked for, or nothing at all came
        before one was."""
        return (
            self.attempts > 0
            and self.proposed == self.withdrawn == 0
            and (self.proposing > 0 or self.valid == 0)
        )

    @property
    def words(self) -> str:
        """How often what failed, in words."""
        text = ", ".join(
            f"{word} {count}"
            for word, count in sorted(self.failures.items(), key=lambda item: (-item[1], item[0]))
        )
        withdrawn = f", {self.withdrawn} withdrawn because no gain was found" if self.withdrawn else ""
        return f"{self.attempts} attempts, {self.valid} with a valid reply{withdrawn}" + (
            f" ({text})" if text else ""
        )


def count_outcomes(
    rows: Iterable[Mapping[str, Any]], roles: Collection[str], turns: Iterable[Mapping[str, Any]] = ()
) -> ProposalOutcomes:
    """Of rows of AGENT_CALLS, those that are turns of sessions by their rows of SESSION_TURNS. roles: those
    whose reply is a proposal."""
    turns = list(turns)
    of_sessions = {turn["call_id"] for turn in turns}
    replies = [
        (row["role"], failure_of(row["status"])) for row in rows if row.get("call_id") not in of_sessions
    ]
    sessions: dict[str, tuple[str, str]] = {}
    for turn in turns:
        _, outcome = sessions.get(turn["session_id"], ("", ""))
        sessions[turn["session_id"]] = turn["role"], turn["outcome"] or outcome
    replies += [
        (role, "" if outcome == FINISHED else outcome or UNFINISHED) for role, outcome in sessions.values()
    ]
    proposing = [failure for role, failure in replies if role in roles]
    failures = Counter(failure for _, failure in replies if failure)
    withdrawn = failures.pop(WITHDRAWN, 0)
    return ProposalOutcomes(
        len(replies),
        sum(not item for _, item in replies),
        sum(not item for item in proposing),
        len(proposing),
        failures,
        withdrawn,
    )


def require_proposals(
    now: ProposalOutcomes,
    *,
    line: str,
    cycle: str,
    roles: Collection[str],
    before: Callable[[int], list[str]],
    allowed: int,
    last: str,
) -> None:
    """Stop a line that gets no proposal.

    Args:
        now: what came in `cycle`. before: how many -> the failed cycles that came right before it, at most so
            many. allowed: how many failed cycles
        in a row are let pass. last: what was wrong with the last reply, "" if it is not known.

    Raises:
        AgentUnavailable: this cycle failed, and as many as are allowed before it.
    """
    if not now.failed or len(earlier := before(allowed)) < allowed:
        return
    cycles = [*earlier, cycle]
    raise AgentUnavailable(
        f"{line}: every proposal failed in "
        f"{f'{len(cycles)} cycles in a row' if earlier else 'the cycle'}: {', '.join(cycles)}",
        wanted=f"a valid reply of {' or '.join(sorted(roles))}",
        got=f"in cycle {cycle} {now.words}" + (f"; the last: {last}" if last else ""),
        do=(
            f"`evolake doctor --call` tries the endpoint, `evolake agents tape list --line {line} --cycle "
            f"{cycle} --invalid` shows the replies; fix "
            "EVOLAKE_MODEL_BASE_URL or EVOLAKE_MODELS and run again: what failed is asked again. "
            "EVOLAKE_AGENTS__FAILED_CYCLES_ALLOWED says how many such "
            f"cycles may pass (now {allowed})"
        ),
    )
