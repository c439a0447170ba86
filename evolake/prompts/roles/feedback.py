"""What decides about system prompts, and where editor, consolidator and recombiner read it."""

from __future__ import annotations

from evolake.agents.feedback import Feedback, columns_of, shown_in

TRIED = ("prompts_editor.tried", "prompts_recombiner.tried")
STANDING = (
    "prompts_editor.standing",
    "prompts_consolidator.standing",
    "prompts_recombiner.best",
    "prompts_recombiner.others",
)
VALUES = ("prompts_recombiner.best", "prompts_recombiner.others")
FEEDBACK = Feedback(
    tables=(
        "verdicts",
        "accepted",
        "values",
        "ratings",
        "rollouts",
        "edits",
        "unmade",
        "updates",
        "champion",
        "duel_replies",
        "heldout",
        "learnability",
    ),
    shown={
        **shown_in(TRIED, "accepted", "gate reason"),
        **shown_in(TRIED, "verdicts", "gate outcome reason"),
        **shown_in(VALUES, "values", "value won"),
        **shown_in(STANDING, "values", "rollouts correct"),
        **shown_in((*STANDING, *TRIED), "ratings", "mu sigma"),
        **shown_in(("prompts_summarizer.reply", "prompts_critic.trajectories"), "rollouts", "reply"),
        **shown_in(("prompts_critic.trajectories",), "rollouts", "reward unverified"),
        **shown_in(("prompts_summarizer.correct",), "rollouts", "correct"),
        **shown_in(("prompts_summarizer.answered",), "rollouts", "formatted"),
        **shown_in(("prompts_summarizer.truncated",), "rollouts", "truncated"),
        **shown_in(TRIED, "edits", "operator prompt_id kind targets text applied"),
        **shown_in((*TRIED, "prompts_consolidator.refused"), "edits", "reason"),
        **shown_in(TRIED, "unmade", "operator prompt_id reason"),
        **shown_in(
            (*STANDING, *TRIED), "champion", "champion_id challenger_id wins difference low high reason"
        ),
    },
    left_out={
        "held-out problems are for people only: an editor that read of them would write for them": (
            "heldout.*",
        ),
        "the decision sums them up": ("duel_replies.*",),
        "about the weights of the policy, which no role proposes": ("updates.*",),
        "about the problems: the draw of those of the next cycle and of parents of families follow it, no "
        "prompt does": ("learnability.*",),
        "names the row": (
            "artifact_id",
            "prompt_id",
            "cycle",
            "arm",
            "iteration",
            "number",
            "problem_id",
            "edits.step",
            "edits.child_id",
            "edits.principle_id",
            "ratings.source",
            "ratings.place",
        ),
        "says which rule it was and where the evidence is, which `evolake show` prints": (
            "gate_no",
            "rule_id",
            "rule_version",
            "ruleset_hash",
            "evidence_sha",
            "run_id",
        ),
        "gate and reason say it": ("passed",),
        "the rating follows from it, and is shown": columns_of("ratings", "rank mean_reward"),
        "about the update of the weights": ("values.rejected",),
        "each attempt shows whether it ended in the wanted form": ("values.formatted",),
        "the number of words is shown": ("rollouts.tokens",),
        "the reply has the results of the tools": ("rollouts.calls",),
        "who was asked": ("edits.backend",),
        "the reason says it, as a difference with its interval": columns_of(
            "champion", "problems samples champion_share challenger_share test"
        ),
    },
)
