"""What decides about programs, and where the writers read it."""

from __future__ import annotations

from evolake.agents.feedback import Feedback

FAILURES = ("programs_writer.failures", "programs_writer_session.failures")
SCORES = ("programs_writer.parent", "programs_writer.best", "programs_writer_session.parent", "programs_writer_session.best")
FEEDBACK = Feedback(
    tables=("accepted", "champion", "measured", "unmade"),
    shown={
        "accepted.gate": FAILURES, "accepted.reason": FAILURES, "unmade.reason": FAILURES, "measured.status": FAILURES,
        "measured.score": SCORES, "measured.metrics": SCORES,
        "measured.artifacts": ("programs_writer.artifacts", "programs_writer_session.artifacts"),
    },
    left_out={
        "names the row": ("cycle", "project", "program_id", "generation", "number", "purpose", "side", "seed"),
        "says where the evidence is, which `evolake show` prints": ("evidence_sha", "rule_id"),
        "gate and reason say it": ("passed",),
        "a property of the project, the same for all its programs": ("protected",),
        "about the machine that it ran on": ("host", "peak_mb", "wall_s"),
        "the interval says how many it took": ("champion.pairs", "champion.test", "champion.noise"),
        "about the initial program, which the gain is measured against": ("champion.initial_mean",),
    },
    missing=(
        "champion.champion_id", "champion.challenger_id", "champion.wins", "champion.difference", "champion.low", "champion.high",
        "champion.holder_id", "champion.holder_mean", "champion.holder_low", "champion.holder_high", "champion.reason",
        "measured.stage", "measured.cpu_s",
    ),
)
