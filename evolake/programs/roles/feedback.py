"""What decides about programs, and where the writers read it."""

from __future__ import annotations

from evolake.agents.feedback import Feedback, columns_of, shown_in


def _both(*fields: str) -> tuple[str, ...]:
    """Return fields of all writers: the one-shot one, that of several programs, and the session."""
    one = tuple(
        f"{role}.{name}" for role in ("programs_writer", "programs_writer_session") for name in fields
    )
    return (*one, "programs_writer_group.first")


ATTEMPTS = _both("attempts")
FEEDBACK = Feedback(
    tables=("accepted", "champion", "heldout", "measured", "unmade"),
    shown={
        **shown_in(ATTEMPTS, "accepted", "gate reason"),
        **shown_in(ATTEMPTS, "unmade", "reason idea parent_id"),
        **shown_in(ATTEMPTS, "measured", "status"),
        **shown_in(_both("parent", "best", "attempts"), "measured", "score cpu_s"),
        **shown_in(_both("parent", "best", "front"), "measured", "metrics"),
        **shown_in(_both("artifacts"), "measured", "artifacts"),
        # what an author is sent of its own draft; a session reads the same as the result of its command
        # `evaluate`
        **shown_in(("programs_writer.round",), "measured", "wall_s peak_mb stage"),
        **shown_in(
            _both("contest"),
            "champion",
            "challenger_id wins difference low high pairs noise holder_id holder_mean initial_mean reason",
        ),
    },
    left_out={
        "held-out evaluations: the contest sums them up, and its seeds are not for writers": ("heldout.*",),
        "names the row": (
            "cycle",
            "project",
            "program_id",
            "generation",
            "number",
            "purpose",
            "side",
            "seed",
        ),
        "says where the evidence is, which `evolake show` prints": ("evidence_sha", "rule_id"),
        "gate and reason say it": ("passed",),
        "a property of the project, the same for all its programs": ("protected",),
        "about the machine that it ran on": ("measured.host",),
        "the same for all attempts of a writer": ("unmade.operator",),
        "the holder is named, and whether the challenger won": ("champion.champion_id",),
        "the interval of the difference decides, and it is shown": columns_of(
            "champion", "holder_low holder_high test"
        ),
    },
)
