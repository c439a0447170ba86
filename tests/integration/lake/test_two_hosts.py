"""Two hosts over one folder: a process with a network, processes and a name of its own holds a line; who is
here is refused, and fences it off."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from evolake.errors import PartitionBusy
from evolake.jail.bubblewrap import find
from evolake.lake import Lake

RUN = Path(__file__).with_name("other_host.py")
NAMESPACES = [
    "--unshare-net",
    "--unshare-pid",
    "--unshare-uts",
    "--hostname",
    "far",
    "--dev-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--die-with-parent",
]


@pytest.fixture
def far(tmp_path):
    """The other host, which has taken the line and done a cycle."""
    words = [str(find()), *NAMESPACES, sys.executable, str(RUN), str(tmp_path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "done; done\n"
    yield process
    process.kill()
    process.wait()


def take(lake: Lake) -> None:
    with lake.line_lock("designs", run_id="near"):
        lake.publish("designs", "candidates", pl.DataFrame({"by": ["near"]}), cycle="0002", run_id="near")
        lake.seals.seal("designs", "0002", "near", "far 0001", "near")


def test_a_line_is_held_over_hosts_and_a_run_that_lost_it_publishes_nothing(far, tmp_path):
    lake = Lake(tmp_path)
    with pytest.raises(PartitionBusy, match=r"run far \(process \d+ on far"):
        take(lake)
    holder = lake.line_holder("designs")
    assert holder is not None
    assert (holder.run_id, holder.host) == ("far", "far")

    (
        tmp_path / "locks/designs.lock"
    ).unlink()  # as a file server does that has not heard of its client for too long: the lock is free, unnoticed  # noqa: E501
    take(lake)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    far.stdin.write("\n")
    far.stdin.flush()
    lost = "line designs: run far lost its lock to a newer writer"
    assert far.stdout.readline() == f"{lost}; {lost}\n"
    assert {path: path.read_bytes() for path in before if path.exists()} == before
    assert lake.read("designs", "candidates")["by"].to_list() == ["far", "near"]
    seal = lake.seals.read("designs", "0002")
    assert seal is not None
    assert seal.version == "near"


def test_the_line_of_a_host_that_died_is_free(far, tmp_path):
    far.kill()
    far.wait()
    far.stdout.read()  # ends when the last process of that host has
    take(Lake(tmp_path))
    assert Lake(tmp_path).read("designs", "candidates")["by"].to_list() == ["far", "near"]
