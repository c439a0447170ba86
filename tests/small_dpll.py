"""A small solver in C++ that answers and proves for real, as an upstream tree of each kind of build."""

import tarfile
from pathlib import Path

MAIN = r"""#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
using namespace std;
static vector<vector<int>> clauses;
static vector<int> value, trail, decisions;
static FILE *proof;
static long conflicts;
static int of(int l) { return l > 0 ? value[l] : -value[-l]; }
static void set(int l) { value[abs(l)] = l > 0 ? 1 : -1; trail.push_back(l); }
static bool propagate() {
    for (bool more = true; more;) {
        more = false;
        for (auto &c : clauses) {
            int open = 0, count = 0;
            for (int l : c) { if (of(l) > 0) { count = 2; break; } if (!of(l)) { open = l; if (++count > 1) break; } }
            if (!count) return false;
            if (count == 1) { set(open); more = true; }
        }
    }
    return true;
}
static void undo(size_t to) { while (trail.size() > to) { value[abs(trail.back())] = 0; trail.pop_back(); } }
static bool search() {
    size_t start = trail.size();
    if (propagate()) {
        int next = 0;
        for (size_t v = 1; v < value.size() && !next; v++) if (!value[v]) next = v;
        if (!next) return true;
        for (int l : {next, -next}) {
            size_t here = trail.size();
            decisions.push_back(l); set(l);
            if (search()) return true;
            decisions.pop_back(); undo(here);
        }
    } else conflicts++;
    undo(start);
    if (proof) { for (int d : decisions) fprintf(proof, "%d ", -d); fprintf(proof, "0\n"); }
    return false;
}
int main(int argc, char **argv) {
    const char *path = 0;
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "--help")) { puts("usage: mini [--proof=<file>] <cnf>\n  --proof=<file>   write a DRAT proof"); return 0; }
        if (!strncmp(argv[k], "--proof=", 8)) proof = fopen(argv[k] + 8, "w");
        else if (argv[k][0] == '-') { fprintf(stderr, "mini: unknown option %s\n", argv[k]); return 7; }
        else path = argv[k];
    }
    FILE *in = path ? fopen(path, "r") : 0;
    char line[1 << 16];
    int variables = 0, count = 0, literal;
    while (in && fgets(line, sizeof line, in)) if (sscanf(line, "p cnf %d %d", &variables, &count) == 2) break;
    if (!in) { fprintf(stderr, "mini: no formula\n"); return 3; }
    value.assign(variables + 1, 0);
    vector<int> clause;
    while (fscanf(in, "%d", &literal) == 1) { if (literal) clause.push_back(literal); else { clauses.push_back(clause); clause.clear(); } }
    bool found = search();
    if (proof) fclose(proof);
    printf("c conflicts: %ld\n", conflicts);
    if (!found) { puts("s UNSATISFIABLE"); return 20; }
    printf("s SATISFIABLE\nv ");
    for (int v = 1; v <= variables; v++) printf("%d ", value[v] < 0 ? -v : v);
    puts("0");
    return 10;
}
"""  # noqa: E501
BUILDS = {
    "configure": {"configure": '#!/bin/sh\necho "all: ; \\$(CXX) -O0 -s -o mini main.cc" > makefile\n'},
    "configure.sh": {"configure.sh": '#!/bin/sh\necho "all: ; \\$(CXX) -O0 -s -o mini main.cc" > makefile\n'},
    "CMake": {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.13)\nproject(mini CXX)\nadd_executable(mini main.cc)\n"  # noqa: E501
    },
    "make": {"Makefile": "mini: main.cc\n\t$(CXX) -O0 -s -o mini main.cc\n"},
    "make r": {
        "Makefile": ".PHONY: r d\nr:\n\tmkdir -p out && $(CXX) -O0 -s -o out/mini main.cc\nd:\n\tfalse\n"
    },
}
"""Words of a way to build -> the files that it takes."""


def small_tree(folder: Path, build: str, main: str = MAIN) -> Path:
    """Write the upstream tree of one kind of build at `folder`."""
    files = {"main.cc": main, "LICENSE": "MIT\n", **BUILDS[build]}
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755 if name.startswith("configure") else 0o644)
    return folder


def small_archive(folder: Path, build: str, main: str = MAIN) -> Path:
    """Write that tree as the archive mini-1.2.tar.gz below `folder`."""
    tree = small_tree(folder / "mini-1.2", build, main)
    with tarfile.open(folder / "mini-1.2.tar.gz", "w:gz") as archive:
        archive.add(tree, tree.name)
    return folder / "mini-1.2.tar.gz"
