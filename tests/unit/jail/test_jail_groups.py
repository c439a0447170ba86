"""Where a memory group can be made, read off files: version 1, version 2, both, none. And the group of
version 2, whose kernel is played here."""

import os
from pathlib import Path

import pytest

from evolake.jail import groups
from evolake.jail.groups import Group, Place, find, sweep

OTHER_MOUNTS = [
    "23 1 254:0 / / rw - ext4 /dev/vda rw",
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu",
]


def machine(root, own, mounts, files):
    """Lay out /proc/self/cgroup, /proc/self/mountinfo, and groups: path -> {file: contents}; each has a
    cgroup.procs unless it says None."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text("".join(f"{line}\n" for line in own))
    (root / "proc/self/mountinfo").write_text("".join(f"{line}\n" for line in [*OTHER_MOUNTS, *mounts]))
    for path, contents in files.items():
        (root / path).mkdir(parents=True, exist_ok=True)
        for name, text in {"cgroup.procs": "", **contents}.items():
            if text is not None:
                (root / path / name).write_text(text)
    return root


def real_version_2() -> str | None:
    """Where version 2 is mounted on this machine, None where it is not."""
    lines = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return next((words[4] for words in lines if words[words.index("-") + 1] == "cgroup2"), None)


@pytest.mark.skipif(real_version_2() is None, reason="no control groups of version 2 are mounted here")
def test_the_real_tree_of_version_2_is_used_only_where_it_has_the_memory_controller(tmp_path):
    machine(
        tmp_path,
        [line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")],
        [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if " - cgroup2 " in line],
        {},
    )
    (tmp_path / "sys").symlink_to("/sys")
    result, top = find(tmp_path), Path(real_version_2() or "")
    if "memory" in (top / "cgroup.controllers").read_text().split():
        assert result != f"{top}: it has no memory controller"
    else:
        assert result == f"{top}: it has no memory controller"
        with pytest.raises(OSError):
            Group(Place(2, top), 64)
        assert list(top.glob(f"evolake-{os.getpid()}-*")) == []


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """What the kernel does of version 2: a new folder has its files, and a folder with files can be
    removed."""
    real_mkdir = Path.mkdir

    def mkdir(path, *arguments, **options):
        real_mkdir(path, *arguments, **options)
        for name in (
            "cgroup.procs",
            "cgroup.subtree_control",
            "memory.max",
            "memory.swap.max",
            "memory.oom.group",
            "memory.peak",
        ):
            (path / name).touch()
        (path / "memory.events").write_text("low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n")

    def rmdir(path):
        for file in path.iterdir():
            file.unlink()
        os.rmdir(path)  # noqa: PTH106  Path.rmdir is this one

    monkeypatch.setattr(groups.Path, "mkdir", mkdir)
    monkeypatch.setattr(groups.Path, "rmdir", rmdir)


def test_a_group_of_version_2_limits_the_program_alone_and_goes(kernel, tmp_path):
    group = Group(Place(2, tmp_path), 64)
    (folder,) = tmp_path.iterdir()
    written = {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size
    }
    untouched = {
        f"{name}memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n"
        for name in ("", "jail/", "run/")
    }
    assert written == untouched | {
        "cgroup.subtree_control": "+memory",
        "run/memory.max": str(64 << 20),
        "run/memory.swap.max": "0",
        "run/memory.oom.group": "1",
    }
    assert group.inside(["bwrap", "x"])[3:] == (str(folder / "jail/cgroup.procs"), "bwrap", "x")
    group.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("events", "peak", "expected"),
    [
        ("oom 0\noom_kill 1\n", "1048576\n", None),
        ("oom 2\noom_kill 1\n", f"{63 << 20}\n", 63.0),
        ("oom 2\noom_kill 1\n", "", 64.0),
    ],
)
def test_a_kill_counts_as_the_programs_own_where_its_group_came_up_to_the_limit(
    events, peak, expected, kernel, tmp_path
):
    group = Group(Place(2, tmp_path), 64)
    (folder,) = tmp_path.iterdir()
    (folder / "run/memory.events").write_text(events)
    (folder / "run/memory.peak").write_text(peak)
    assert group.peak_mb() == expected
    group.close()


def test_only_groups_of_dead_owners_are_swept(tmp_path):
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    stay = [f"evolake-{os.getpid()}-{start}-1", "evolake-x", "other"]
    for name in [*stay, f"evolake-{os.getpid()}-{int(start) - 1}-1", f"evolake-{2**22 + 1}-5-2"]:
        (tmp_path / name / "run").mkdir(parents=True)
        (tmp_path / name / "jail").mkdir()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stay)
