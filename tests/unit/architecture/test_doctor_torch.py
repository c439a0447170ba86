"""`evolake doctor` names the build of torch that is installed, and what it takes."""

from __future__ import annotations

import re
from importlib import metadata

from evolake.cli import doctor


def test_the_build_of_torch_and_its_size_are_named():
    check = doctor._torch()
    assert check.ok
    version, build, size = re.fullmatch(
        r"(\S+), (CPU|CUDA) build, ([\d.]+) GB on disk", check.detail
    ).groups()
    assert version == metadata.version("torch")
    assert (build == "CUDA") == any(
        line.startswith(("nvidia-", "cuda-")) for line in metadata.requires("torch")
    )
    assert 0.2 < float(size) < 10


def test_the_cuda_build_is_told_by_what_it_requires():
    wanted = (
        "nvidia-cudnn-cu13==9.20",
        "cuda-toolkit[cublas]==13.0",
        'triton==3.7.1; platform_system == "Linux"',
    )
    assert all(doctor.CUDA_LIBRARY.match(line) for line in wanted)
    assert not doctor.CUDA_LIBRARY.match("typing-extensions>=4.10")
