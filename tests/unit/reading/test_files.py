"""Files of the user's are read only if they are regular files, and never beyond the limit."""

import os
import resource
import socket
from pathlib import Path

import pytest

from evolake.reading import Unreadable, read_bytes, read_text, require_regular


def test_a_regular_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r")
    assert read_text(path) == "one\ntwo\n"
    assert read_bytes(path, 12) == path.read_bytes()
    with pytest.raises(Unreadable, match=r"a\.txt is too large"):
        read_bytes(path, 11)
    path.write_bytes(b"caf\xe9")
    with pytest.raises(Unreadable, match=r"a\.txt is no text"):
        read_text(path)


def test_a_high_limit_takes_no_memory_for_a_short_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"short")
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, before[1]))
    try:
        assert read_bytes(path, 1 << 40) == b"short"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("kind", ["pipe", "device", "endless", "socket", "folder", "link"])
def test_what_is_no_regular_file_is_named_and_never_waited_for(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = {"device": Path("/dev/null"), "endless": Path("/dev/zero")}.get(kind, Path("it"))
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            listening.bind("it")
        elif kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to("/dev/zero")
        for read in (require_regular, read_text, lambda path: read_bytes(path, 10)):
            with pytest.raises(Unreadable, match=f"{path} is a "):
                read(path)


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "nosuch")


def test_a_file_of_proc_is_bounded_though_it_claims_no_size():
    assert Path("/proc/self/maps").stat().st_size == 0
    with pytest.raises(Unreadable, match="too large"):
        read_bytes(Path("/proc/self/maps"), 100)
