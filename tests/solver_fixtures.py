"""A toy solver family for tests of adapters, repositories and builds: one C++ file that answers nothing, or
by the number of variables."""

from collections.abc import Mapping
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
ANSWERING = """#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
    int variables = 0, clauses = 0;
    char line[256];
    FILE *formula = fopen(argv[argc - 1], "r");
    while (fgets(line, sizeof line, formula))
        if (sscanf(line, "p cnf %d %d", &variables, &clauses) == 2) break;
    for (volatile long k = 0; k < ROUNDS; k++) ;
    if (variables == 2) { printf("s SATISFIABLE\\nv MODEL 0\\n"); return 10; }
    if (argc > 2) { FILE *proof = fopen(argv[1] + strlen("-proof="), "w"); fputs("0\\n", proof); fclose(proof); }
    printf("c conflicts: 3\\ns UNSATISFIABLE\\n");
    return 20;
}
"""  # noqa: E501
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
TREE = {
    "code/main.cc": MAIN,
    "code/toy.h": HEADER,
    "code/tests/try.cc": "int x;\n",
    "code/notes.txt": "notes\n",
    "LICENSE": "MIT\n",
}


def toy_adapter(text: str = ADAPTER, patches: Path = Path("/nonexistent")) -> Adapter:
    """The toy family's adapter, or one from a changed text of it."""
    return read_adapter(text, patches)


def toy_tree(folder: Path, files: Mapping[str, str] = TREE) -> Path:
    """The toy's upstream sources, or others, at `folder`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def answering_tree(folder: Path, rounds: int = 1) -> Path:
    """Upstream sources of a toy that answers; see `answering`."""
    return toy_tree(folder, {"code/main.cc": answering(rounds=rounds), "LICENSE": "MIT\n"})


def answering(model: str = "-1 2", rounds: int = 1) -> str:
    """A `main.cc` that answers the formulas of `two_formulas`, by this model, after so many rounds of
    nothing."""
    return ANSWERING.replace("MODEL", model).replace("ROUNDS", str(rounds))


def two_formulas(folder: Path) -> Path:
    """A suite in a new folder: one formula with a model, one without."""
    folder.mkdir()
    (folder / "good.cnf").write_text("p cnf 2 2\n1 2 0\n-1 0\n")
    (folder / "bad.cnf").write_text("p cnf 1 2\n1 0\n-1 0\n")
    return folder
