"""Replies that made our own code raise: each is one blocked row with its reason, and the same reply,
replayed, is the same row. The line goes on."""

import errno
import re
from concurrent.futures import BrokenExecutor
from typing import Any

import pytest
from designs_genomes import DRAG, changed
from scripted_agents import scripted

from evolake.agents import AgentFailure
from evolake.designs.engines.engine import unsolved
from evolake.designs.evolution.designing import DesignerTurn, propose_candidates
from evolake.designs.evolution.experiments import Job, run_jobs
from evolake.designs.evolution.judging import DesignGates
from evolake.designs.evolution.objective_writing import initial_objectives, write_objectives
from evolake.designs.evolution.planning import plan_directions
from evolake.designs.evolution.population import Population, empty_population, texts_of
from evolake.designs.evolution.proposals import (
    Judge,
    derivation_rows,
    design_row,
    seed_candidate,
    store_candidate,
)
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.model.boundary import alone, is_machinery
from evolake.designs.roles import models
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DESIGNS
from evolake.errors import AgentUnavailable, InputError, JailUnavailable, LakeError, MachineryError
from evolake.gates import read_reason
from evolake.lake import Lake
from evolake.seeds import CycleSeeds

FILE = compose(baseline(), "Baseline dynamics")
GOOD = compose(changed({"lr": 1.3}, v=DRAG))


def space(text: str) -> str:
    """The baseline with further entries in its HYPER_SPACE."""
    return FILE + f"\nHYPER_SPACE = dict(HYPER_SPACE, {text})\n"


def body(line: str) -> str:
    """The baseline with one more line in its function."""
    return FILE.replace("    return {", f"    {line}\n    return {{", 1)


def start(text: str) -> str:
    """The baseline with another initialiser of v."""
    return (
        FILE
        + f"\nVARIABLES_SPEC = dict(VARIABLES_SPEC, v=dict(VARIABLES_SPEC['v'], init=lambda s: {text}))\n"
    )


DEEP = "[" * 3000 + "]" * 3000
SOURCES = {
    "lr as text": space("lr={'type': 'categorical', 'default': 'fast', 'choices': ['fast']}"),
    "lr infinite": space("lr={'type': 'categorical', 'default': float('inf'), 'choices': [float('inf')]}"),
    "lr nan": space("lr={'type': 'categorical', 'default': float('nan'), 'choices': [float('nan')]}"),
    "lr of 400 digits": space("lr={'type': 'categorical', 'default': 10**400, 'choices': [10**400]}"),
    "a bound of 400 digits": space("a={'type': 'uniform', 'default': 1, 'low': 0, 'high': 10**400}"),
    "a range that cannot be searched": space(
        "a={'type': 'log_uniform', 'default': 1.0, 'low': 5e-324, 'high': 1e308}"
    ),
    "a choice of 5000 digits": space("a={'type': 'categorical', 'default': 0, 'choices': [0, 10**5000]}"),
    "no choice": space("a={'type': 'categorical', 'default': 0, 'choices': []}"),
    "a name in another alphabet": space("**{'\\u03b1': {'type': 'int', 'default': 1, 'low': 0, 'high': 2}}"),
    "a name of ours": FILE.replace('"xl"', '"out0.0"'),
    "a vast text": space("a={'type': 'categorical', 'default': 'x' * 10**6, 'choices': ['x' * 10**6]}"),
    "valid from N=11 on": start("torch.rand(s[0], s[1] - 11, 1).sum() * 0 + torch.zeros(s)"),
    "a power that overflows": body(
        "d_v = d_v * float(len(d_v)) ** 0.5 * 0 + d_v * (1e300 * float(len(d_v)) ** 4)"
    ),
    "a nest without end": FILE + "\nX = " + DEEP + "\n",
    "a syntax of zeros": "\x00",
    "no text at all": " ",
}
HYPERS: dict[str, dict[str, Any]] = {
    "infinite": {"lr": float("inf")},
    "nan": {"lr": float("nan")},
    "400 digits": {"lr": 10**400},
    "5000 digits": {"lr": 10**5000},
    "text": {"lr": "fast"},
    "unknown": {"none such": 1},
    "a surrogate": {"\ud800": 1.0},
}
LR = re.compile(r'("lr","log_uniform",0.1,6.0,)1.0')
"""The value of `lr` in the baseline's genome."""
GENOMES = [
    "[" * 5000,
    "null",
    "[]",
    '{"drives": [], "memories": 3, "constants": 3}',
    *(LR.sub(rf"\g<1>{value}", baseline().to_json()) for value in ("1e999", "9" * 5000)),
]


@pytest.fixture(scope="module")
def lake_and_archive(tmp_path_factory, judge_at, seed_files) -> tuple[Lake, Population]:
    lake, population = Lake(tmp_path_factory.mktemp("lake")), empty_population()
    for name, source, own in (
        ("baseline", compose(baseline(), "baseline"), baseline()),
        ("design_340", seed_files["design_340"].read_text(), None),
    ):
        seed = seed_candidate(name, source, population.graphs(), judge_at("0001"), own)
        population = population.admit(
            [design_row(seed, "0001", *store_candidate(lake.blobs, seed))], derivation_rows(seed, "0001")
        )
    return lake, population


def cycle(
    lake: Lake, population: Population, judge: Judge, settings: DesignsSettings, answer: Any
) -> list[dict[str, Any]]:
    """The opening of a cycle with one poisoned reply among the operators' own: the rows of DESIGNS that it
    leaves."""
    rows = plan_directions(
        scripted(), population, texts_of(lake), settings=settings, cycle="0001", root_seed=1
    ).rows
    agents = scripted(
        designs_designer=[answer],
        designs_designer_repair=[AgentFailure("designs_designer_repair", "refused", "no", 1)],
    )
    turn = DesignerTurn(agents, judge, settings, CycleSeeds(1, "designs", "0001"), "model")
    result = propose_candidates(turn, population, rows, texts_of(lake))
    assert not result.failures
    stored = [
        design_row(candidate, "0001", *store_candidate(lake.blobs, candidate))
        for candidate in result.candidates
    ]
    assert DESIGNS.frame(stored).height == len(stored)
    return stored


def reply(source: str, **more: Any) -> models.DesignReply:
    return models.DesignReply(
        **({"explanation": "e", "solver_code": source, "short_name": "n", "reference_weights": []} | more)
    )


@pytest.mark.parametrize("name", SOURCES)
def test_a_poisoned_file_is_a_block_with_its_reason_each_time_it_is_replayed(
    name, judge_at, lake_and_archive
):
    result = [judge_at("0001")(SOURCES[name], {}, {}) for _ in range(2)]
    assert [item.accepted for item in result] == [False, False]
    assert result[0].reason and result[0].reason == result[1].reason
    assert result[0].design_id == result[1].design_id


def test_a_poisoned_reply_in_a_cycle_blocks_itself_alone_twice(judge_at, lake_and_archive, tiny):
    lake, population = lake_and_archive
    for name in ("lr infinite", "lr as text", "a choice of 5000 digits"):
        rows = [cycle(lake, population, judge_at("0001"), tiny, reply(SOURCES[name])) for _ in range(2)]
        assert rows[0] == rows[1]
        assert [row["state"] for row in rows[0]] == ["blocked", "accepted", "accepted"]
        assert rows[0][0]["reason"]


@pytest.mark.parametrize("name", HYPERS)
def test_poisoned_values_beside_a_good_file_are_a_block(name, judge_at):
    result = judge_at("0001")(GOOD, HYPERS[name], {})
    assert not result.accepted
    assert result.reason.startswith(("contract", "trace"))


@pytest.mark.parametrize("text", GENOMES, ids=range(len(GENOMES)))
def test_a_poisoned_genome_is_not_believed(text, judge_at, lake_and_archive, tiny):
    from evolake.designs.evolution.proposals import believed_genome

    assert believed_genome(text, GOOD) is None


def test_a_poisoned_objective_is_a_failed_call_or_a_blocked_row(
    lake_and_archive, tiny, inline, judge_objectives
):
    lake, population = lake_and_archive
    texts = {
        design_id: texts_of(lake)(population.row(design_id)["traced_sha"])
        for design_id in population.live_ids()
    }
    jobs = [Job(design_id, text, "low", "0001", "test", 1, tiny) for design_id, text in texts.items()]
    measured = population.add(
        experiments=run_jobs(inline, jobs), objectives=initial_objectives(tiny, cycle="0001", root_seed=1)
    )
    for code in (
        "def objective(results):\n    return 10**400",
        "def objective(results):\n    return " + "(" * 300 + "1" + ")" * 300,
        "x = " + DEEP,
    ):
        answer = models.ObjectiveReply(objective_code=code, objective_description="d")
        written = [
            write_objectives(
                scripted(designs_objective_writer=[answer]),
                measured,
                judge_objectives(measured),
                settings=tiny,
                seeds=CycleSeeds(1, "designs", "0002"),
                origin="model",
            )
            for _ in range(2)
        ]
        assert written[0].rows == written[1].rows
        assert [row["state"] for row in written[0].rows[:1]] + ["failed" for _ in written[0].failures] in (
            ["blocked"],
            ["failed"],
        )


MACHINERY = [
    MachineryError("x"),
    JailUnavailable("x"),
    LakeError("x"),
    AgentUnavailable("x"),
    ImportError("x"),
    ModuleNotFoundError("x"),
    BrokenExecutor("x"),
    KeyboardInterrupt(),
    SystemExit(1),
    NameError("x"),
    RuntimeError("can't start new thread"),
    *(
        OSError(code, "x")
        for code in (
            errno.ENOSPC,
            errno.EDQUOT,
            errno.EIO,
            errno.EROFS,
            errno.EACCES,
            errno.EMFILE,
            errno.ENOMEM,
            errno.ENOENT,
        )
    ),
]
CANDIDATES = [
    ValueError("x"),
    TypeError("x"),
    KeyError("x"),
    RecursionError("x"),
    OverflowError("x"),
    MemoryError("x"),
    RuntimeError("x"),
    UnicodeError("x"),
    AssertionError("x"),
    StopIteration("x"),
    ZeroDivisionError("x"),
    OSError(errno.ENAMETOOLONG, "x"),
    InputError("x"),
    type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})("x"),
]


@pytest.mark.parametrize("error", MACHINERY, ids=repr)
def test_a_failure_of_ours_is_raised(error):
    def judge() -> str:
        raise error

    assert is_machinery(error)
    with pytest.raises(type(error)):
        alone(judge, str)


@pytest.mark.parametrize("error", CANDIDATES, ids=repr)
def test_anything_else_is_the_candidates_block(error):
    def judge() -> str:
        raise error

    assert alone(judge, str) == f"judging it raised {type(error).__name__} at unknown: {error}"


def test_what_the_last_gate_raises_is_a_block_in_the_words_of_all_lines(judge_at, monkeypatch):
    monkeypatch.setattr("evolake.designs.evolution.judging.run_apart", lambda run: run.no_such_attribute)
    [block] = [verdict for verdict in judge_at("0001")(GOOD, {}, {}).verdicts if verdict.outcome == "block"]
    raised = read_reason(block.reason)
    assert raised is not None
    assert (block.gate, raised.error, raised.place.partition(":")[0]) == (
        "dynamics",
        "AttributeError",
        "judging.py",
    )


def test_what_raises_in_the_process_of_the_numbers_is_a_block_in_the_words_of_all_lines(
    judge_at, monkeypatch
):
    reason = "judging it raised TypeError at fused.py:3: no"
    monkeypatch.setattr("evolake.designs.evolution.judging.run_apart", lambda run: unsolved(4, reason))
    [block] = [verdict for verdict in judge_at("0001")(GOOD, {}, {}).verdicts if verdict.outcome == "block"]
    assert (block.gate, block.reason) == ("dynamics", reason)


def test_a_jail_that_fails_is_raised_and_one_that_raises_anything_else_blocks(judge_at, tiny):
    from evolake.gates import load_rules
    from evolake.project import BROUGHT

    rules = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "designs")

    class Pool:
        def __init__(self, error: Exception):
            self.error = error

        def call(self, **_: Any) -> Any:
            raise self.error

    def judged(error: Exception) -> Any:
        return DesignGates(Pool(error), rules, tiny, "0001", "test")(FILE, {}, {})

    with pytest.raises(JailUnavailable):
        judged(JailUnavailable("no sandbox"))
    result = judged(ValueError("Exceeds the limit for integer string conversion"))
    assert (result.accepted, result.traced) == (False, None)
    [block] = [verdict for verdict in result.verdicts if verdict.outcome == "block"]
    raised = read_reason(block.reason)
    assert raised is not None
    assert (block.gate, raised.error, raised.message) == (
        "trace",
        "ValueError",
        "Exceeds the limit for integer string conversion",
    )
    assert raised.place.startswith("trace.py:")
