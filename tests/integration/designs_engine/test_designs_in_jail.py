"""Design files through the real jail: honest ones are traced, hostile ones are blocked or measured truly,
never believed."""

from dataclasses import replace
from pathlib import Path

import pytest

from evolake.designs.engines.engine import simulate
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.model.instances import planted
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.errors import InputError
from evolake.jail import Limits, open_pool

SEEDS = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"
BASELINE = (SEEDS / "designs" / "baseline.py").read_text()
LIMITS = Limits(cpu_s=6.0, wall_s=20.0, memory_mb=4096, output_bytes=8_000_000)
SOON = replace(LIMITS, cpu_s=2.0)
"""For what never ends: several times what an honest design takes."""


@pytest.fixture(scope="module")
def pool():
    with open_pool(workers=1, preload=PRELOAD) as pool:
        yield pool


@pytest.fixture(scope="module")
def honest(pool):
    design = trace(BASELINE, pool=pool)
    assert isinstance(design, TracedDesign)
    return design


def body(code: str) -> str:
    """The baseline with `code` (indented) before the gradients are scaled."""
    return BASELINE.replace("    rate = 1.0", f"{code}\n    rate = 1.0")


def test_shipped_designs_are_traced_and_replaced_parameters_count(pool, honest):
    assert [item.name for item in honest.variables] == ["v", "xl", "xs"]
    assert (honest.learning_rate, honest.hyper_values["alpha"], honest.dtype, honest.size) == (
        1.0,
        5.0,
        "float32",
        None,
    )
    assert isinstance(
        trace((SEEDS / "reference_designs" / "design_340.py").read_text(), pool=pool), TracedDesign
    )
    tuned = trace(BASELINE, pool=pool, hyper={"alpha": 7.5})
    assert isinstance(tuned, TracedDesign)
    assert tuned.hyper_values["alpha"] == 7.5
    assert tuned.graph_sha != honest.graph_sha


def test_the_host_refuses_parameters_that_the_design_does_not_have(pool):
    with pytest.raises(InputError, match="no hyperparameter 'aleph'"):
        trace(BASELINE, pool=pool, hyper={"aleph": 1})
    with pytest.raises(InputError, match="outside"):
        trace(BASELINE, pool=pool, hyper={"alpha": 1000.0})


BLOCKED = {
    "an export missing": (BASELINE.replace("HYPER_SPACE", "HYPERS"), "load", "no HYPER_SPACE"),
    "a syntax error": (BASELINE + "\ndef (", "load", "line"),
    "a file too large": (BASELINE + "#" * 300_000, "load", "larger"),
    "data-dependent control flow": (
        body("    if dv.abs().max() > 1:\n        dv = dv * 0.5"),
        "trace",
        "depends on the data",
    ),
    "a number taken out": (body("    dv = dv * float(c.mean())"), "trace", "depends on the data"),
    "an input written in place": (body('    vars["xs"].mul_(0.5)'), "contract", "in place"),
    "a wrong key": (BASELINE.replace('"xs": -rate * dxs', '"ys": -rate * dxs'), "contract", "ys"),
    "a key too many": (
        BASELINE.replace('"xs": -rate * dxs', '"xs": -rate * dxs, "extra": dv'),
        "contract",
        "extra",
    ),
    "a wrong shape": (BASELINE.replace('"xs": -rate * dxs', '"xs": (-rate * dxs)[1:]'), "contract", "shape"),
    "no tensor": (BASELINE.replace('"xs": -rate * dxs', '"xs": 0.5'), "contract", "float"),
    "an operator off the list": (
        body("    dv = dv + torch.linalg.svdvals(force).sum()"),
        "operators",
        "not on the list",
    ),
    "a bound that is none": (BASELINE.replace("(1.0, 1e6)", "(1.0, 'much')"), "contract", "bound"),
    "a default outside its range": (
        BASELINE.replace('"default": 5.0', '"default": 500.0'),
        "contract",
        "outside",
    ),
    "an error of its own": (body("    dv = dv.nonsense()"), "trace", "nonsense"),
    "an initialiser of another shape": (
        BASELINE.replace("torch.zeros(shape)", "torch.zeros(3)"),
        "contract",
        "init of 'xs'",
    ),
    "a size in a branch": (body("    dv = dv * (0.5 if len(dv) > 500 else 1.0)"), "size", "_grad_single"),
    "a matrix of everything": (
        body("    dv = dv + (dv[:, None] * c[None, :]).sum(1)"),
        "graph",
        "numbers an instance",
    ),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_a_design_that_cannot_be_used_is_blocked_with_its_reason(pool, name):
    source, gate, words = BLOCKED[name]
    result = trace(source, pool=pool, limits=LIMITS)
    assert isinstance(result, Blocked), result
    assert result.gate == gate
    assert words in result.reason


def test_a_design_for_one_size_runs_at_that_size_only(pool):
    design = trace(BLOCKED["a size in a branch"][0], pool=pool, size=(100, 430))
    assert isinstance(design, TracedDesign)
    assert design.size == (100, 430)
    with pytest.raises(InputError, match="one size"):
        simulate(design, planted(50, 2, 0), max_steps=5, seed=0)
    assert simulate(design, planted(100, 2, 0), max_steps=5, seed=0).engine == "fused"


HOSTILE = {
    "loops for ever": "while True:\n    pass",
    "loops for ever in the function": body("    while True:\n        pass"),
    "ten million nodes": body("    for _ in range(10_000_000):\n        dv = dv * 1.0000001"),
    "a billion numbers": BASELINE.replace("torch.zeros(shape)", "torch.zeros(10**11)"),
    "a reply without end": BASELINE
    + """
import evolake.designs.tracing.driver as d
d._unified = lambda *a, **k: type("G", (), {"to_json": lambda s: "x" * 10**9})()
""",
    "a reply of a hundred megabytes": BASELINE
    + """
import evolake.designs.tracing.driver as d
d._unified = lambda *a, **k: type("G", (), {"to_json": lambda s: "x" * 10**8})()
""",
    "a pickle bomb for a reply": BASELINE
    + """
import evolake.designs.tracing.driver as d
class Bomb:
    def __reduce__(self):
        import os
        return os.system, ("touch /tmp/evolake_was_here",)
d._unified = lambda *a, **k: type("G", (), {"to_json": lambda s: Bomb()})()
""",
    "a nest without end": BASELINE
    + """
import evolake.designs.tracing.driver as d
def nest(*a, **k):
    deep = []
    for _ in range(50_000):
        deep = [deep]
    return type("G", (), {"to_json": lambda s: {"nodes": deep, "outputs": {}}})()
d._unified = nest
""",
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + BASELINE + "\n1 / 0\n",
    "leaves at once": "import os\nos._exit(0)",
}

ENDLESS = {"loops for ever", "loops for ever in the function", "ten million nodes"}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_design_is_blocked_and_hurts_nothing(pool, honest, name):
    result = trace(HOSTILE[name], pool=pool, limits=SOON if name in ENDLESS else LIMITS)
    assert isinstance(result, Blocked), result
    assert not Path("/tmp/evolake_was_here").exists()
    again = trace(BASELINE, pool=pool)
    assert isinstance(again, TracedDesign)
    assert again.graph_sha == honest.graph_sha


def test_files_of_the_host_cannot_be_read(pool, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("0.123")
    result = trace(f"SCALE = float(open({str(secret)!r}).read())\n" + BASELINE, pool=pool)
    assert isinstance(result, Blocked)
    assert result.gate == "load"


MEASURED = {
    "prints a fake result": BASELINE
    + '\nprint(\'{"verdict": "solved", "median_step": 1, "unsolved_fraction": 0.0}\')\n',
    "puts another driver in place": BASELINE
    + "\nimport evolake.designs.tracing.driver as d\nd._trace = d.trace = lambda *a: {'status': 'traced'}\n",
    "has a clock of its own": BASELINE
    + "\nimport time\ntime.perf_counter = time.time = time.thread_time = lambda: 0.0\n",
    "patches numpy": BASELINE + "\nimport numpy\nnumpy.all = numpy.any = lambda *a, **k: True\n",
}


@pytest.mark.parametrize("name", MEASURED)
def test_what_a_design_says_about_itself_is_not_heard(pool, honest, name):
    design = trace(MEASURED[name], pool=pool)
    assert isinstance(design, TracedDesign)
    assert design.graph_sha == honest.graph_sha


def test_a_design_that_patches_torch_is_measured_as_what_it_then_computes(pool, honest):
    """Patched so that every literal looks best: the graph shows it, and the host's own check finds nothing
    solved sooner."""
    patch = "lambda self, k, dim=-1: (self[:, :2] * 0 + 1, torch.zeros(self.shape[0], 2, dtype=torch.int64))"
    source = f"import torch\ntorch.Tensor.topk = {patch}\n" + BASELINE
    design = trace(source, pool=pool)
    assert isinstance(design, TracedDesign)
    assert design.graph_sha != honest.graph_sha
    assert simulate(design, planted(30, 10, 0), max_steps=40, seed=0).unsolved_fraction == 1.0


def test_claims_of_a_solution_are_checked_on_the_clauses(pool):
    claim = BASELINE.replace("return {", 'return {"solved": -torch.ones_like(vars["solved"]), ').replace(
        '    "xs": {"init"',
        '    "solved": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (0.0, '
        '1.0)},\n    "xs": {"init"',
    )
    design = trace(claim.replace("-rate * dv", "0.0 * dv"), pool=pool)
    assert isinstance(design, TracedDesign)
    result = simulate(design, planted(60, 10, 0), max_steps=20, seed=0)
    assert (result.unsolved_fraction, result.reached) == (1.0, False)


def test_a_design_full_of_nans_is_measured_as_unsolved(pool):
    design = trace(BASELINE.replace("-rate * dv", "dv * float('nan')"), pool=pool)
    assert isinstance(design, TracedDesign)
    result = simulate(design, planted(20, 10, 0), max_steps=20, seed=0)
    assert (result.unsolved_fraction, result.diverged, result.failure) == (1.0, 10, None)


def test_an_index_out_of_range_fails_the_run_and_not_the_host(pool):
    design = trace(
        BASELINE.replace('literals = sgn * vars["v"][idx]', 'literals = sgn * vars["v"][idx + 7]'), pool=pool
    )
    if isinstance(design, Blocked):
        assert design.gate == "trace"
        return
    result = simulate(design, planted(20, 4, 0), max_steps=20, seed=0)
    assert result.failure is not None
    assert result.unsolved_fraction == 1.0
