"""A toy solver family for tests of adapters, repositories and builds: one C++ file that answers by the first clause it reads."""

from __future__ import annotations

from pathlib import Path

from evolake.solvers.repository.adapters import Adapter, read_adapter

MAIN = """#include <cstdio>
#include "toy.h"

int main(int argc, char** argv) {
    FILE* in = argc > 1 ? std::fopen(argv[argc - 1], "r") : 0;
    if (!in) return 1;
    std::printf("c conflicts: %d\\n", CONFLICTS);
    std::printf("s UNKNOWN\\n");
    return 0;
}
"""
HEADER = "#define CONFLICTS 7\n"
ADAPTER = """
name = "toy"
licences = ["src/LICENSE"]
editable = ["src/*.cc", "src/*.h"]

[layout]
from = "code"
exclude = ["tests/*", "*.txt"]
keep = ["LICENSE"]

[build]
commands = [["sh", "-c", "$CXX $CXXFLAGS -o bin/toy src/main.cc"]]
environment = { CXXFLAGS = "-Wall -O1 -s" }
program = "bin/toy"

[run]
argv = ["toy", "{cnf}"]
proof_argv = ["toy", "-proof={proof}", "{cnf}"]
proof = "drat-text"

[statistics]
conflicts = '^c conflicts: (\\d+)'
"""


def toy_adapter(text: str = ADAPTER, patches: Path = Path("/nonexistent")) -> Adapter:
    """The toy family's adapter, or one from a changed text of it."""
    return read_adapter(text, patches)


def toy_tree(folder: Path) -> Path:
    """The toy's upstream sources, at `folder`."""
    for name, text in {
        "code/main.cc": MAIN, "code/toy.h": HEADER, "code/tests/try.cc": "int x;\n", "code/notes.txt": "notes\n", "LICENSE": "MIT\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
