"""Escapes in C, and their compilation: what a jail of native programs must contain, however it starts
them."""

import platform
import subprocess
from pathlib import Path

C_ATTACKS: dict[str, tuple[str, str, int | None]] = {
    "user namespace": (
        "#define _GNU_SOURCE\n#include <sched.h>\nint attempt(void) { return unshare(CLONE_NEWUSER); }",
        "ok",
        1,
    ),
    "anonymous file": (
        '#define _GNU_SOURCE\n#include <sys/mman.h>\nint attempt(void) { return memfd_create("x", 0); }',
        "ok",
        1,
    ),
    "raise the limit": (
        "#include <sys/resource.h>\n"
        "int attempt(void) { struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY}; return "
        "setrlimit(RLIMIT_AS, &r); }",
        "ok",
        1,
    ),
    "allocate": ("#include <stdlib.h>\nint attempt(void) { return malloc(8UL << 30) ? 0 : -1; }", "ok", 1),
    "jump to nowhere": ("int attempt(void) { return *(volatile int *)8; }", "killed", None),
    "abort": ("#include <stdlib.h>\nint attempt(void) { abort(); }", "killed", None),
    "foreign architecture": (
        'int attempt(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); return 0; }'
        if platform.machine() == "x86_64"
        else "#include <signal.h>\nint attempt(void) { return raise(SIGSYS); }",
        "forbidden",
        None,
    ),
}
"""name -> the body, which defines `int attempt(void)`; the status and the exit code of a run that was
contained (1: `attempt` failed)."""


def compiled(compiler: str, body: str, folder: Path) -> Path:
    """The program `attack` in `folder`, which ends with 1 where `attempt` gives a number below 0."""
    (folder / "attack.c").write_text(body + "\nint main(void) { return attempt() < 0; }\n")
    subprocess.run(
        [compiler, "-O0", "-pthread", "-o", folder / "attack", folder / "attack.c"],
        check=True,
        capture_output=True,
    )
    return folder / "attack"
