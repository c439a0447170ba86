"""What a native program leaves is read through descriptors only, never through a link."""

import os

import pytest

from evolake.jail.inside.program import collect, write_inputs


@pytest.fixture
def root(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def test_regular_files_come_back_and_absent_ones_are_just_absent(tmp_path, root):
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b").write_bytes(b"three")
    assert collect(root, ["a", "absent", "sub/b", "sub/absent"], 100) == (
        [("a", 3), ("sub/b", 5)],
        b"onethree",
        [],
    )


def test_links_folders_pipes_and_large_files_are_left_out_with_a_reason(tmp_path, root):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"x" * 50)
    (tmp_path / "link").symlink_to("real/file")
    (tmp_path / "folder-link").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    result, contents, refused = collect(root, ["link", "folder-link/file", "pipe", "real", "real/file"], 49)
    assert (result, contents) == ([], b"")
    assert [reason.split("'")[1] for reason in refused] == [
        "link",
        "folder-link/file",
        "pipe",
        "real",
        "real/file",
    ]


def test_inputs_are_written_as_given_and_executable(tmp_path):
    write_inputs(str(tmp_path), [("solver", 2), ("src/main.c", 0), ("data", 3)], b"abcde")
    assert {name: (tmp_path / name).read_bytes() for name in ("solver", "src/main.c", "data")} == {
        "solver": b"ab",
        "src/main.c": b"",
        "data": b"cde",
    }
    assert os.access(tmp_path / "solver", os.X_OK)
