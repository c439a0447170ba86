"""Proof checkers are built in the jail from a release's sources (stand-ins here: the release is not ours),
and found on PATH first."""

import io
import subprocess
import tarfile

import pytest

from evolake.errors import InputError, MachineryError
from evolake.solvers.proof.tools import build_tools, find_program, tools_folder

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


def test_a_source_without_checkers_is_a_wrong_input(tmp_path, requires):
    requires("cc")
    (tmp_path / "junk.tar.gz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="carries no proof checker"):
        build_tools(tmp_path, tmp_path / "tools")
    with pytest.raises(InputError, match="cannot be read"):
        build_tools(tmp_path / "junk.tar.gz", tmp_path / "tools")


def test_a_link_in_an_archive_is_not_followed(tmp_path, requires):
    requires("cc")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("x/test/cnf/drat-trim.c")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("x/README"), io.BytesIO())
    with pytest.raises(InputError, match="carries no proof checker"):
        build_tools(tmp_path / "a.tar", tmp_path / "tools")


def test_path_comes_before_what_was_built(tmp_path, monkeypatch):
    for place in ("path", "tools"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "drat-trim").write_text("#!/bin/sh\n")
        (tmp_path / place / "drat-trim").chmod(0o755)
    monkeypatch.setenv("EVOLAKE_PROOF_TOOLS", str(tmp_path / "tools"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_program("drat-trim") == tmp_path / "path" / "drat-trim"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("drat-trim") == tmp_path / "tools" / "drat-trim"
    assert find_program("cake_lpr") is None


def test_without_a_named_folder_the_lake_keeps_them(tmp_path, monkeypatch):
    monkeypatch.delenv("EVOLAKE_PROOF_TOOLS", raising=False)
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    assert tools_folder() == tmp_path / "cache" / "proof-tools"
