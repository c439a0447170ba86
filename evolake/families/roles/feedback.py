"""What decides about families, and where the evolution agent and the curator of experience read it."""

from __future__ import annotations

from evolake.agents.feedback import Feedback, columns_of, shown_in

AGENT, SESSION = "families_evolution_agent", "families_evolution_session"


def _both(name: str) -> tuple[str, ...]:
    """Return a field of the evolution agent, one-shot and as a session."""
    return f"{AGENT}.{name}", f"{SESSION}.{name}"


DRAFT, TRIED = _both("draft"), _both("tried")
GATES = ("execution", "quality", "sentences")
FEEDBACK = Feedback(
    tables=(
        "verdicts",
        *GATES,
        "consensus_labels",
        "validator_votes",
        "validator_authors",
        "blind_reviews",
        "measured_drafts",
        "unmade",
        "ideas",
        "failures",
        "experience",
        "learnability",
        "survival",
        "dropped_instances",
        "drift",
        "drift_summary",
        "audit_grades",
        "complexity",
        "funnel",
    ),
    shown={
        **shown_in((*DRAFT, *TRIED, "families_experience_curator.blocked"), "verdicts", "gate reason"),
        **shown_in(TRIED, "verdicts", "outcome"),
        **{
            name: places
            for gate in GATES
            for name, places in shown_in((*DRAFT, *TRIED), gate, "gate reason").items()
        },
        # traces: of votes and reviews that speak against a blocked family, three at most
        **shown_in(DRAFT, "consensus_labels", "difficulty seed"),
        # sessions get traces without labels and without the answers of others: their own validator would be
        # fitted to them
        **shown_in((f"{AGENT}.draft",), "consensus_labels", "label decided primary_agrees votes voters"),
        **shown_in((f"{AGENT}.draft",), "validator_votes", "voter status answer"),
        **shown_in(DRAFT, "blind_reviews", "difficulty seed reviewer status matched note"),
        **shown_in((f"{AGENT}.draft",), "blind_reviews", "answer label"),
        **shown_in((f"{AGENT}.draft",), "measured_drafts", "faults"),
        # of a family's parents, and of families that were accepted and are retired
        **shown_in((*_both("experience"), *TRIED), "learnability", "pass_rate score replies"),
        **shown_in(TRIED, "survival", "lives reason"),
        **shown_in(TRIED, "unmade", "reason"),
        **shown_in(TRIED, "ideas", "family_id title idea outcome reason"),
        **shown_in(DRAFT, "failures", "kind gate reason traces"),
        **shown_in(("families_experience_curator.candidates",), "failures", "lesson"),
        **shown_in(("families_experience_curator.blocked",), "failures", "rule_id"),
        **shown_in((*_both("experience"), "families_experience_curator.existing"), "experience", "item"),
    },
    left_out={
        "withheld: an author of a validator reads the statement alone, so that its vote is independent": (
            "validator_authors.*",
        ),
        "about families that were accepted; it is reported, and nothing is decided by it": (
            "drift.*",
            "drift_summary.*",
            "complexity.*",
            "audit_grades.*",
        ),
        "counts of what the verdicts say one by one": ("funnel.*",),
        "names the row": (
            "artifact_id",
            "family_id",
            "cycle",
            "number",
            "round",
            "measured_drafts.title",
            "validator_votes.difficulty",
            "validator_votes.seed",
        ),
        "says which rule it was and where the evidence is, which `evolake show` prints": (
            "gate_no",
            "verdicts.rule_id",
            *(f"{gate}.rule_id" for gate in GATES),
            "rule_version",
            "ruleset_hash",
            "evidence_sha",
            "run_id",
        ),
        "gate and reason say it": ("passed",),
        "the label and the answers say it": ("validator_votes.for_label",),
        "what a reviewer ran; its answer decides": ("blind_reviews.programs",),
        "about the machine that it ran on": ("calls", "cpu_s", "wall_s"),
        "the author wrote the correction itself": ("measured_drafts.outcome",),
        "the operator of each request is set by its turn": ("unmade.operator", "ideas.operator"),
        "about which policy was asked, and what the score follows from": columns_of(
            "learnability", "policy prompts_cycles groups correct informative"
        ),
        "the reason says it": columns_of("survival", "before score groups floor"),
        "the draw of parents follows it": ("learnability.factor",),
        "single instances of families that passed: repeated and trivial ones are not published, the "
        "family stays": ("dropped_instances.*",),
    },
)
