"""Object code on disk: used again, and never trusted when damaged."""

import platform

import numpy as np
import pytest
from unit.designs_engine.engine_support import DESIGN_340, SIMPLE, after, distance, small_batch, traced

from evolake.designs.compiler import kernel_build
from evolake.designs.engines.engine import QUICK_WORK, StopRule, WorkBounds, simulate
from evolake.designs.engines.fused import FusedStepper


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_KERNEL_CACHE", str(tmp_path))
    monkeypatch.setattr(kernel_build, "_KERNELS", {})
    return tmp_path


def forget() -> None:
    kernel_build._KERNELS.clear()


def test_a_kernel_is_compiled_once_and_read_back(folder, monkeypatch):
    design, instances = traced(SIMPLE), small_batch()
    _, fresh, _ = after(design, "fused", instances)
    assert len(list(folder.iterdir())) == 1
    forget()
    monkeypatch.setattr(kernel_build, "compiled", lambda *_: pytest.fail("compiled again"))
    assert distance(fresh, after(design, "fused", instances)[1]) == 0


DAMAGES = [
    lambda data: data[:-7],
    lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
    lambda data: b"",
    lambda data: b"x\n" + data,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=["cut", "flipped", "empty", "shifted"])
def test_a_damaged_file_is_compiled_again(folder, damage):
    design, instances = traced(SIMPLE), small_batch()
    _, fresh, _ = after(design, "fused", instances)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    path.write_bytes(damage(good))
    forget()
    assert distance(fresh, after(design, "fused", instances)[1]) == 0
    assert path.read_bytes() == good


def test_a_folder_that_cannot_be_written_is_no_error(folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setenv("EVOLAKE_KERNEL_CACHE", str(folder / "file" / "below"))
    assert after(traced(SIMPLE), "fused", small_batch())[0] == "fused"


@pytest.mark.parametrize("features", ["", "+avx2,+fma", "+avx2"])
def test_a_lesser_processor_computes_the_same_bytes(folder, monkeypatch, features):
    """Compiled for the oldest 64-bit processor (two or four lanes, fused multiply-adds in software) and for
    some in between."""
    if platform.machine() != "x86_64":
        features = ""
    design, instances = traced(DESIGN_340.read_text()), small_batch(24, 3)
    _, here, solved = after(design, "fused", instances, 12)
    machine = dict(kernel_build._machine())
    machine["options"] = machine["options"] | {
        "cpu": "x86-64" if platform.machine() == "x86_64" else "generic",
        "features": features,
    }
    machine["name"] += features + " lesser"
    monkeypatch.setattr(kernel_build, "_MACHINE", machine)
    _, there, solved_there = after(design, "fused", instances, 12)
    assert all(here[name].tobytes() == there[name].tobytes() for name in here)
    assert solved.tobytes() == solved_there.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("features", ["here", "", "+avx2"])
def test_a_quickly_compiled_kernel_computes_the_same_bytes(folder, monkeypatch, dtype, features):
    design, instances = traced(DESIGN_340.read_text()), small_batch(24, 3)
    better = FusedStepper(design, instances, 3, dtype)
    solved = better.run(40)
    forget()
    if features != "here" and platform.machine() == "x86_64":
        machine = dict(kernel_build._machine())
        machine["options"] = machine["options"] | {"cpu": "x86-64", "features": features}
        machine["name"] += features + " lesser"
        monkeypatch.setattr(kernel_build, "_MACHINE", machine)
    quick = FusedStepper(design, instances, 3, dtype, quick=True)
    assert np.array_equal(quick.run(40), solved)
    assert all(np.array_equal(quick.state()[name], values) for name, values in better.state().items())
    assert len(list(folder.iterdir())) == 2


def test_a_kernel_is_compiled_quickly_only_for_a_short_run_of_a_racer_and_if_no_better_one_is_there(folder):
    design, instances = traced(SIMPLE), small_batch()
    lasting = WorkBounds(max_work=QUICK_WORK / (instances.batch * instances.n))
    short, racing = WorkBounds(max_work=30), StopRule(computed="deciding")
    for until, bounds, quick in (
        (racing, short, True),
        (StopRule(computed="unsolved"), short, False),
        (racing, short, False),
        (racing, lasting, False),
    ):
        simulate(design, instances, max_steps=30, seed=1, until=until, bounds=bounds)
        assert [kernel.key.endswith("-quick") for kernel in kernel_build._KERNELS.values()][-1] is quick
    assert len(kernel_build._KERNELS) == 2
    forget()
    simulate(design, instances, max_steps=30, seed=1, until=racing, bounds=lasting)
    (kernel,) = kernel_build._KERNELS.values()
    assert not kernel.key.endswith("-quick")
