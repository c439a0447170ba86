"""Object code on disk: used again, and never trusted when damaged."""

import platform

import pytest
from unit.designs_engine.engine_support import DESIGN_340, SIMPLE, after, distance, small_batch, traced

from evolake.designs.compiler import kernel_build


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
