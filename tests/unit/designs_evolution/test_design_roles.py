"""The roles: their models, their classical answers, their prompts."""

import numpy as np
import pytest
from agent_backend_fixtures import assert_served
from designs_genomes import changed
from pydantic import ValidationError

from evolake.agents.prompts import build_messages
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import OPERATORS
from evolake.designs.genome.open_genome import OpenGenome, baseline, read_genome
from evolake.designs.roles import models
from evolake.designs.roles.designer import (
    ANALYSIS_ROLE,
    DESIGN_REPAIR_ROLE,
    DESIGN_ROLE,
    REVISION_ROLE,
    analyses_fault,
    measured_text,
    success_level,
)
from evolake.designs.roles.models import ReferenceWeight, normalised
from evolake.designs.roles.objective import OBJECTIVE_REPAIR_ROLE, OBJECTIVE_ROLE, REVIEW_ROLE, parent_of
from evolake.designs.roles.planner import DIRECTIONS_ROLE, LOOKUP_ROLE, named_in, phase_of
from evolake.designs.roles.request_text import levels_text
from evolake.objectives.portfolio import baseline_objective, new_objective
from evolake.objectives.programs.compose import of_family, read
from evolake.objectives.programs.genetic import Parent
from evolake.objectives.source import objective_id


def summary(number: int, terms: list[str] | None = None, ucb: float | None = None) -> models.DesignSummary:
    return models.DesignSummary(
        design_id=f"{number:012d}",
        title=f"design {number}",
        operator="add_gate",
        rank=number,
        consensus=number / 20,
        ucb=1 - number / 20 if ucb is None else ucb,
        visits=1.0,
        largest_solved=80,
        median_step=500,
        fidelity="low",
        terms=terms or [],
    )


def detail(number: int) -> models.DesignDetail:
    return models.DesignDetail(
        design_id=f"{number:012d}",
        title=f"design {number}",
        rationale="why",
        source="SOURCE",
        results=[
            models.LevelResult(
                N=10,
                max_work=50,
                median_step=20,
                work_per_step=1.5,
                median_work=30.0,
                unsolved_fraction=0.4,
                fidelity="low",
            )
        ],
        terms=[],
    )


def material(number: int, genome: OpenGenome) -> models.ParentMaterial:
    return models.ParentMaterial(
        design_id=f"{number:012d}",
        title=f"design {number}",
        genome=genome.to_json(),
        source=compose(genome),
        values=dict(genome.values()),
        scales=[],
    )


def first_and_last(number: int, best: str, worst: str) -> list[str]:
    """Return the terms of design `number` of twelve: the first four have `best`, the last four `worst`."""
    if number <= 4:
        return [best]
    return [worst] if number > 8 else []


SQUASHED = changed(xl=("mul", "alpha", "c"), v=("tanh", "pull"))
LINES = [summary(number, first_and_last(number, "xs:xl", "v:tanh")) for number in range(1, 13)]
LOOKUP = models.LookupRequest(
    directions_wanted=3,
    max_lookups=4,
    total_designs=12,
    best=LINES[0],
    recent=LINES[:2],
    summaries=LINES[2:] + LINES[:2],
    guidance=["be bold"],
)
DIRECTIONS = models.DirectionsRequest(
    directions_wanted=3,
    max_references=2,
    context_rationale="high bounds",
    summaries=LINES,
    details=[detail(number) for number in (1, 2, 5)],
)
DESIGN = models.DesignRequest(
    phase="systematic_search",
    direction="crossover: vary design 1",
    rationale="why",
    focus="",
    avoid="",
    key_insights=[],
    baseline_source="B",
    references=[detail(1), detail(2)],
    objectives=["steps at N=2000"],
    schedule="doubling",
    parents=[material(1, baseline()), material(2, SQUASHED)],
)
REPAIR = models.RepairRequest(
    direction="a squashed force", source=compose(SQUASHED), error="trace: boom", genome=SQUASHED.to_json()
)
MEASURED = models.MeasuredDesign(
    design_id="000000000004",
    title="add xl_gate",
    direction="d",
    explanation="Adds xl_gate.",
    source="S",
    fidelity="low",
    results=detail(1).results,
    rank=2,
    ranked_designs=12,
    consensus=0.1,
    references=[detail(3)],
    reference_ranks={"000000000003": 3},
    creation_weights=[ReferenceWeight(design_id="000000000003", weight=1.0)],
)
ANALYSIS = models.AnalysisRequest(designs=[MEASURED])
SPECS = [baseline_objective(), *(new_objective(np.random.default_rng(seed), []) for seed in range(2))]
PORTFOLIO = [
    models.ObjectiveSummary(
        objective_id=spec.objective_id,
        description=spec.description,
        family=spec.family,
        parameters=dict(spec.parameters),
        source=spec.source,
        created_round=1,
        weight=0.3,
        multiplier=1.0,
        median_tau=0.5,
    )
    for spec in SPECS
]
OBJECTIVE = models.ObjectiveRequest(
    review_guidance="Write objectives that look at sudden rises (cliff). No more of tail.",
    schedule="s",
    baseline_source=SPECS[0].source,
    existing=PORTFOLIO,
    recent_results=[],
)
SCORES: list[list[float | None]] = [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0], [4.0, 3.0, 2.0, None]]
REVIEW = models.ReviewRequest(
    round=2,
    schedule="s",
    objectives=PORTFOLIO,
    tau=[[1.0, 0.5, -1.0], [0.5, 1.0, -0.5], [-1.0, -0.5, 1.0]],
    scores=dict(zip([item.objective_id for item in PORTFOLIO], SCORES, strict=True)),
    design_ids=["a", "b", "c", "d"],
    largest_solved=[80, 80, 57, 10],
    top_designs=LINES[:2],
    progress=[models.ProgressEntry(cycle="0001", reach=80, steps=900)],
    previous_guidance="none yet",
)
REQUESTS = {
    REVISION_ROLE: models.RevisionRequest(request=1, source="S", trial="N=40 ratio: 1.1"),
    LOOKUP_ROLE: LOOKUP,
    DIRECTIONS_ROLE: DIRECTIONS,
    DESIGN_ROLE: DESIGN,
    DESIGN_REPAIR_ROLE: REPAIR,
    ANALYSIS_ROLE: ANALYSIS,
    OBJECTIVE_ROLE: OBJECTIVE,
    OBJECTIVE_REPAIR_ROLE: models.RepairRequest(direction="d", source="S", error="e"),
    REVIEW_ROLE: REVIEW,
}


def answer(role, request=None, seed: int = 0):
    return role.operators(request or REQUESTS[role], np.random.default_rng(seed))


@pytest.mark.parametrize("role", REQUESTS, ids=lambda role: role.name)
def test_every_role_has_a_prompt_that_fits_it_and_a_seeded_classical_answer(role):
    aimless = {
        DESIGN_REPAIR_ROLE: "# Why it was blocked",
        REVISION_ROLE: "# The trial",
        DESIGN_ROLE: "# Direction",
    }  # the direction says it
    assert_served(role, REQUESTS[role], aimless.get(role, models.RESEARCH_GOAL))


def test_guidance_reaches_the_planner_in_both_stages():
    for role, request in ((LOOKUP_ROLE, LOOKUP), (DIRECTIONS_ROLE, DIRECTIONS)):
        summary = request.model_copy(update={"guidance": ["try a slower threshold"]})
        assert "- try a slower threshold" in build_messages(role, summary)[1]["content"]


def test_directions_start_from_looked_up_designs_and_name_an_operator():
    result = answer(DIRECTIONS_ROLE)
    assert result.current_phase == "exploitation"
    assert len(result.research_directions) == 3
    assert all(text.partition(":")[0] in OPERATORS for text in result.research_directions)
    assert [references[0] for references in result.reference_design_ids[:2]] == [
        "000000000001",
        "000000000002",
    ]
    assert all(1 <= len(references) <= 2 for references in result.reference_design_ids)
    assert result.success_patterns == ["has xs:xl"] and result.failure_patterns == ["has v:tanh"]


def test_terms_and_operators_that_people_name_come_first():
    summary = DIRECTIONS.model_copy(
        update={"guidance": ["please insert something with Force:tanh and xs:xl, or a crossover"]}
    )
    result = answer(DIRECTIONS_ROLE, summary)
    assert result.focus_areas == ["force:tanh, xs:xl"] * 3
    assert all(text.startswith(("insert: ", "crossover: ")) for text in result.research_directions)
    assert named_in(["add-memory"]) == ([], ["add_memory"])
    assert named_in(["nothing we know"]) == ([], [])


@pytest.mark.parametrize(
    ("cycles", "designs", "phase"),
    [(0, 3, "early_exploration"), (2, 12, "stagnation"), (4, 12, "breakthrough_needed")],
)
def test_the_phase_follows_from_size_and_standstill(cycles, designs, phase):
    assert (
        phase_of(DIRECTIONS.model_copy(update={"cycles_without_gain": cycles, "summaries": LINES[:designs]}))
        == phase
    )


def test_the_designer_gives_a_file_with_genome_and_weights():
    result = answer(DESIGN_ROLE)
    assert result.genome is not None
    assert read_genome(result.genome).to_json() == result.genome
    assert result.solver_code.endswith(compose(read_genome(result.genome)).partition('"""\n')[2])
    assert sum(item.weight for item in result.reference_weights) == pytest.approx(1.0)


def test_the_designer_follows_the_operator_and_the_focus_of_its_direction():
    asked = DESIGN.model_copy(
        update={"direction": "insert: vary", "focus": "xs:xl", "parents": [material(1, baseline())]}
    )
    made = [answer(DESIGN_ROLE, asked, seed) for seed in range(12)]
    assert all(reply.genome and read_genome(reply.genome).to_json() == reply.genome for reply in made)
    assert sum(reply.operator == "insert" for reply in made) >= 6
    assert sum("xs:xl" in read_genome(reply.genome).term_names() for reply in made if reply.genome) >= 2


def test_repair_takes_the_last_part_out_of_a_genome():
    result = answer(DESIGN_REPAIR_ROLE)
    assert result.genome is not None and result.error_summary.startswith("Dropped the drive of xl")
    assert result.solver_code.endswith(read_compose(result.genome))
    assert (
        answer(DESIGN_REPAIR_ROLE, REPAIR.model_copy(update={"genome": baseline().to_json()})).error_summary
        == "Nothing left to drop."
    )


def read_compose(genome: str) -> str:
    """A composed file without its docstring."""
    return compose(read_genome(genome)).partition('"""\n')[2]


@pytest.mark.parametrize(
    ("rank", "others", "level"),
    [(1, [2], "excellent"), (2, [3], "good"), (3, [2, 4], "moderate"), (5, [2], "poor"), (4, [], "poor")],
)
def test_success_is_rank_against_references(rank, others, level):
    assert success_level(rank, others) == level


def test_an_analysis_of_several_designs_needs_one_entry_for_each():
    other = MEASURED.model_copy(update={"design_id": "000000000005"})
    request = models.AnalysisRequest(designs=[MEASURED, other])
    reply = answer(ANALYSIS_ROLE, request)
    assert analyses_fault(request, reply) == ""
    assert analyses_fault(request, models.AnalysisReply(analyses=reply.analyses[:1])) == (
        "`analyses` needs one entry for each of the designs 000000000004, 000000000005; got 000000000004"
    )


def test_the_analysis_shows_the_changed_lines_of_a_small_change_and_no_rewritten_file():
    start = detail(3).model_copy(update={"source": "".join(f"line {number}\n" for number in range(20))})
    small = MEASURED.model_copy(
        update={"references": [start], "source": start.source.replace("line 7\n", "line seven\n")}
    )
    assert "changed lines:\n@@ -8 +8 @@\n-line 7\n+line seven\n" in measured_text(
        small
    ) and "line 9" not in measured_text(small)
    assert "changed lines" not in measured_text(small.model_copy(update={"source": "all\nelse\n"}))


def test_results_have_a_line_for_each_cost_and_one_for_what_was_not_solved():
    def level(n: int, **more: object) -> models.LevelResult:
        plain = {
            "N": n,
            "max_work": 50 * n,
            "median_step": 2 * n,
            "work_per_step": 1.5,
            "median_work": 3.0 * n,
            "unsolved_fraction": 0.4,
        }
        return models.LevelResult.model_validate(plain | {"fidelity": "low"} | more)

    failed = level(40, unsolved_fraction=0.75, steps_run=900)
    text = levels_text(
        [
            level(10),
            level(20, diverged=2),
            failed,
            level(57, unsolved_fraction=1.0, failure="no such operator"),
        ]
    )
    assert text.splitlines() == [
        "planted, low, a step costs 1.5; median work: N=10 30 of 500, N=20 60 of 1000, 2 instances diverged",
        "planted, low, a step costs 1.5; N=40 not solved: 75% unsolved after 900 steps of a work of 2000",
        "planted, low, a step costs 1.5; N=57 broke: no such operator",
    ]
    assert levels_text([]) == "not measured yet"


def test_the_objective_writer_writes_new_programs_of_parents_that_vote():
    result = [answer(OBJECTIVE_ROLE, seed=seed) for seed in range(30)]
    known = {spec.objective_id for spec in SPECS}
    for reply in result:
        assert isinstance(reply, models.ProgramReply) and read(reply.objective_code) is not None
        assert set(reply.parents) <= known - {objective_id(reply.objective_code)}
        assert bool(reply.parents) == (reply.operator != "draw")
    assert {"crossover", "insert", "subtree"} <= {reply.operator for reply in result}


def test_the_objective_writer_listens_to_the_review():
    family, own = SPECS[1].family, SPECS[1].objective_id
    asked = OBJECTIVE.model_copy(
        update={"review_guidance": f"Write objectives that look at something ({family})."}
    )
    silent = OBJECTIVE.model_copy(update={"review_guidance": "none yet"})
    shares = [
        sum(answer(OBJECTIVE_ROLE, request, seed).parents.get(own, 0.0) for seed in range(40))
        for request in (asked, silent)
    ]
    assert shares[0] > 1.3 * shares[1] > 0


def test_a_file_that_is_no_program_and_no_template_is_no_parent():
    by_hand = PORTFOLIO[0].model_copy(update={"source": PORTFOLIO[0].source + "# mine\n"})
    program = by_hand.model_copy(
        update={"source": "mine", "genome": '["mean",["log","steps"]]', "weight": 0.2, "nearest_tau": 0.7}
    )
    assert parent_of(by_hand, []) is None
    assert parent_of(program, []) == Parent(
        by_hand.objective_id, ("mean", ("log", "steps")), 0.2, 0.7, wanted=False
    )
    assert parent_of(PORTFOLIO[0], [PORTFOLIO[0].family]) == Parent(
        SPECS[0].objective_id, of_family("baseline"), 0.3, None, wanted=True
    )
    alone = OBJECTIVE.model_copy(update={"existing": [by_hand]})
    assert {answer(OBJECTIVE_ROLE, alone, seed).operator for seed in range(5)} == {"draw"}


def test_the_reviewer_lowers_the_odd_one_out_and_leaves_the_sound():
    result = answer(REVIEW_ROLE)
    moved = {item.objective_id: item.weight_multiplier for item in result.objective_analysis}
    assert set(moved) == {item.objective_id for item in PORTFOLIO}
    assert moved[PORTFOLIO[2].objective_id] == pytest.approx(0.7)
    assert moved[PORTFOLIO[0].objective_id] == 1.0


@pytest.mark.parametrize("weights", [[0.5, 0.4], [0.9, 0.9]])
def test_weights_that_do_not_sum_to_one_are_sent_back(weights):
    items = [{"design_id": str(number), "weight": weight} for number, weight in enumerate(weights)]
    with pytest.raises(ValidationError, match="must sum to 1"):
        models.DesignReply(
            explanation="e",
            solver_code="s",
            short_name="n",
            reference_weights=[ReferenceWeight(**item) for item in items],
        )


def test_nearly_right_weights_are_normalised():
    result = normalised(
        [ReferenceWeight(design_id="a", weight=0.335), ReferenceWeight(design_id="b", weight=0.66)]
    )
    assert sum(item.weight for item in result) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="once"):
        normalised([ReferenceWeight(design_id="a", weight=0.5), ReferenceWeight(design_id="a", weight=0.5)])


def test_repair_leaves_files_alone():
    assert answer(DESIGN_REPAIR_ROLE, REPAIR.model_copy(update={"genome": None})).solver_code == REPAIR.source


def test_the_analysis_repeats_the_weights_of_creation():
    (result,) = answer(ANALYSIS_ROLE).analyses
    assert result.reference_weights == MEASURED.creation_weights
    assert (result.success_level, result.short_name) == ("good", "add xl_gate")
