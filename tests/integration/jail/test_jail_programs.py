"""What a jail can execute: a run its own program, a build the tools of a build, and neither any other program
of the system."""

import os
import random
import stat
import subprocess
from pathlib import Path

import pytest

from evolake.jail import Limits, NativeRun, elf, run_native, toolbox
from evolake.jail.direct import DirectRun, run_direct

SMALL = Limits(cpu_s=5, wall_s=30, memory_mb=256, file_mb=1)
BUILD = Limits(cpu_s=20, wall_s=60, memory_mb=1024, file_mb=16, processes=16, open_files=256)

LIST = """
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
static int one(const char *path, const struct stat *s, int kind, struct FTW *f) {
    if (kind == FTW_F && S_ISREG(s->st_mode) && (s->st_mode & 0111)) puts(path);
    return 0;
}
int main(void) { return nftw("/", one, 16, FTW_PHYS); }
"""
BECOME = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int n, char **words) {
    char *argv[] = {"x", "-c", "exit 0", 0};
    for (int i = 1; i < n; i++) {
        execve(words[i], argv, 0);
        syscall(SYS_execveat, AT_FDCWD, words[i], argv, 0, 0);
        int file = open(words[i], O_RDONLY);
        if (file >= 0) syscall(SYS_execveat, file, "", argv, 0, AT_EMPTY_PATH);
    }
    puts("nothing");
    return 1;
}
"""
CHANGE = """
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
int main(int n, char **words) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    int file = open(words[1], O_WRONLY), done = 0;
    done += !fchmod(file, 06777) + !chmod(words[1], 06777) + !fchown(file, -1, -1) + !futimens(file, times) + !fchmod(0, 0600) + !futimens(0, times);
    return write(file, "x", 1) == 1 ? done : 99;
}
"""  # noqa: E501


@pytest.fixture
def compiled(tmp_path, requires):
    compiler = requires("cc")

    def make(text, *options):
        (tmp_path / "a.c").write_text(text)
        subprocess.run(
            [compiler, "-o", tmp_path / "a", tmp_path / "a.c", *options], check=True, capture_output=True
        )
        return DirectRun(["{solver}/a"], programs=tmp_path)

    return make


def test_a_runs_jail_holds_the_program_its_loader_and_its_libraries(compiled):
    run = compiled(LIST)
    needed = elf.needed(run.programs / "a", trusted=False)
    seen = run_direct(run, SMALL, mode="bubblewrap").stdout.decode().split()
    assert "/solver/a" in seen
    assert set(seen) <= {"/solver/a", *needed}


def test_a_run_becomes_no_program_of_the_system(compiled):
    run = compiled(BECOME)
    programs = [
        "/bin/true",
        "/usr/bin/true",
        "/bin/sh",
        "/usr/bin/perl",
        "/usr/bin/python3",
        os.path.realpath("/bin/sh"),
    ]
    done = run_direct(DirectRun([*run.argv, *programs], run.programs), SMALL, mode="bubblewrap")
    assert (done.status, done.exit_code, done.stdout) == ("ok", 1, b"nothing\n")


def test_a_run_changes_nothing_but_the_contents_of_its_file(compiled, tmp_path):
    run = compiled(CHANGE)
    out = tmp_path / "out"
    out.touch()
    out.chmod(0o640)
    before = out.stat()
    done = run_direct(
        DirectRun([*run.argv, "{work}/out"], run.programs, writable={"out": out}), SMALL, mode="bubblewrap"
    )
    after = out.stat()
    assert (done.status, done.exit_code, out.read_bytes()) == ("ok", 0, b"x")
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (0o640, before.st_uid, before.st_gid)
    assert after.st_mtime > 1000


def test_a_program_that_asks_for_another_library_is_not_run(compiled, tmp_path, requires):
    (tmp_path / "l.c").write_text("int other(void) { return 0; }\n")
    library = tmp_path / "libperl.so.5.36"
    command = [
        requires("cc"),
        "-shared",
        "-fPIC",
        "-Wl,-soname,libperl.so.5.36",
        "-o",
        library,
        tmp_path / "l.c",
    ]
    subprocess.run(command, check=True, capture_output=True)
    run = compiled("int other(void); int main(void) { return other(); }\n", str(library))
    done = run_direct(run, SMALL, mode="bubblewrap")
    assert done.status == "error"
    assert "needs the library libperl.so.5.36" in done.reason


def test_a_script_is_not_run_without_its_interpreter(tmp_path):
    (tmp_path / "a").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "a").chmod(0o755)
    run = DirectRun(["{solver}/a"], tmp_path)
    assert "it is a script for /bin/sh" in run_direct(run, SMALL, mode="bubblewrap").reason
    assert (
        run_direct(DirectRun(run.argv, tmp_path, tools=[Path("/bin/sh")]), SMALL, mode="bubblewrap").stdout
        == b"ran\n"
    )


def test_a_builds_jail_holds_the_tools_of_a_build(requires):
    requires("c++")
    everything = "find / -type f -perm -0100 -not -path '/proc/*' -not -path '/tmp/*'"
    seen = (
        run_native(NativeRun(["/bin/sh", "-c", everything]), limits=BUILD, mode="bubblewrap")
        .stdout.decode()
        .split()
    )
    known = [place for place, _ in toolbox.standard()]
    assert seen
    assert [
        path for path in seen if not any(path == place or path.startswith(f"{place}/") for place in known)
    ] == []
    assert [
        path
        for path in seen
        if any(word in path for word in ("perl", "python", "ruby", "tar", "gzip", "base64", "openssl"))
    ] == []


def test_a_build_executes_nothing_else(compiled):
    run = compiled(BECOME)
    program = (run.programs / "a").read_bytes()
    paths = [
        "/usr/bin/perl",
        "/usr/bin/python3",
        "/proc/1/exe",
        "/box/bin/sh",
        os.path.realpath("/usr/bin/python3"),
    ]
    done = run_native(NativeRun(["./a", *paths], {"a": program}), limits=BUILD, mode="bubblewrap")
    assert (done.status, done.exit_code, done.stdout) == ("ok", 1, b"nothing\n")


def test_no_file_breaks_the_reader_of_programs(tmp_path):
    """Of an untrusted file the host reads what it needs; whatever the file holds, it is a reason or an
    answer."""
    draw = random.Random(7)
    whole = Path(os.path.realpath("/bin/true")).read_bytes()
    path = tmp_path / "a"
    outcomes = set()
    for _ in range(1500):
        data = bytearray(whole[:8192])
        for _ in range(draw.randrange(1, 30)):
            if draw.random() < 0.3:
                place = draw.randrange(64)
            elif draw.random() < 0.5:
                place = draw.randrange(64, 1200)
            else:
                place = draw.randrange(len(data))
            data[place] = draw.choice((0, 1, 255, draw.randrange(256)))
        path.write_bytes(data if draw.random() < 0.9 else data[: draw.randrange(4000)])
        try:
            elf.needed(path, trusted=False)
            outcomes.add("read")
        except elf.BadProgram:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize(
    "loader",
    ["/lib64/ld-" + "x" * 400, "/lib64/ld-none", "/work/ld-linux-x86-64.so.2", "/lib64/../bin/sh", "/bin/sh"],
)
def test_no_other_loader_is_taken(loader, compiled):
    run = compiled("int main(void) { return 0; }\n", f"-Wl,--dynamic-linker={loader}")
    done = run_direct(run, SMALL, mode="bubblewrap")
    assert (done.status, "is not the system's" in done.reason) == ("error", True)
