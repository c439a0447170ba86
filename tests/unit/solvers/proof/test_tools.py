"""Proof checkers are built in the jail from a release's sources (stand-ins here: the release is not ours),
and found on PATH first."""

import io
import subprocess
import tarfile

import pytest

from evolake.errors import InputError, MachineryError
from evolake.solvers.proof.tools import build_tools

SOURCE = b'#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n'


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "cadical-rel-1.9.5" / "test" / "cnf"
    folder.mkdir(parents=True)
    (folder / "drat-trim.c").write_bytes(SOURCE)
    return tmp_path / "cadical-rel-1.9.5"


def packed(release, path):
    with tarfile.open(path, "w:gz") as archive:
        archive.add(release, "cadical-rel-1.9.5")
    return path


@pytest.mark.parametrize("form", ["folder", "archive"])
def test_what_a_release_carries_is_built(form, release, tmp_path, requires):
    requires("cc")
    source = release if form == "folder" else packed(release, tmp_path / "cadical.tar.gz")
    built = build_tools(source, tmp_path / "tools")
    assert built == [tmp_path / "tools" / "drat-trim"]
    assert subprocess.run(built, capture_output=True, check=True).stdout == b"built\n"
    assert sorted(path.name for path in (tmp_path / "tools").iterdir()) == ["drat-trim"]


def test_a_source_that_does_not_compile_is_no_checker(release, tmp_path, requires):
    requires("cc")
    (release / "test" / "cnf" / "drat-trim.c").write_bytes(b"int main(void) { return nothing; }\n")
    with pytest.raises(MachineryError, match="drat-trim did not compile"):
        build_tools(release, tmp_path / "tools")
    assert list((tmp_path / "tools").iterdir()) == []


def test_a_link_in_an_archive_is_not_followed(tmp_path, requires):
    requires("cc")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("x/test/cnf/drat-trim.c")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("x/README"), io.BytesIO())
    with pytest.raises(InputError, match="carries no proof checker"):
        build_tools(tmp_path / "a.tar", tmp_path / "tools")
