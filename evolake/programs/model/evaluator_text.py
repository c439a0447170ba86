"""Find out from the texts of a project whether its evaluator only calls functions of the program.

Then the program can run in its own jail, and the evaluator calls it there (mode "calls"): the score is
protected. What is found here is what the texts show. Values that cannot cross are seen when the initial
program is evaluated (`programs.sandbox.meeting`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from evolake.parsing import parse_python

READERS = frozenset(
    {
        "open",
        "read_text",
        "read_bytes",
        "getsource",
        "getsourcelines",
        "run_path",
        "run_module",
        "exec",
        "eval",
        "compile",
        "subprocess",
        "Popen",
        "system",
        "popen",
        "fork",
        "multiprocessing",
        "ProcessPoolExecutor",
        "inspect",
        "tokenize",
        "ast",
        "pickle",
        "signature",
    }
)
"""Names by which an evaluator may read the program's text, start it, or look into its functions."""
SHINKA_RUN = "run_shinka_eval"
"""It calls one function of the program by its name, and hands nothing else on."""
LOADERS = frozenset({"module_from_spec", "import_module", "load_module", "__import__"})

CLOCKS = {
    "time": "time perf_counter monotonic process_time thread_time clock_gettime",
    "timeit": "timeit repeat default_timer Timer",
    "datetime": "now utcnow today",
    "resource": "getrusage",
    "os": "times",
    "psutil": "cpu_times cpu_percent",
    "cProfile": "Profile run runctx",
}
"""Module -> what of it tells the time, also with "_ns" behind it."""


def clock_in(text: str) -> str:
    """Return where a text reads a clock, in words; "" where it reads none."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    held: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            held |= {item.asname or _name(item): _name(node) or _name(item) for item in node.names}
    for node in ast.walk(tree):
        module, used = "", list[str]()
        if isinstance(node, ast.Attribute):
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            module, used = held.get(_name(owner), ""), [node.attr]
        elif isinstance(node, ast.ImportFrom):
            module, used = _name(node), [item.name for item in node.names]
        known = ["*", *CLOCKS.get(module, "").split()]
        if module in CLOCKS and (found := next((n for n in used if n.removesuffix("_ns") in known), "")):
            return f"line {getattr(node, 'lineno', 1)}: {module}.{found}"
    return ""


def obstacle(evaluator: str, program: str, main: str, others: Mapping[str, bytes]) -> str:
    """Return why the evaluator cannot call the program in another process, in words; "" if nothing speaks
    against it.

    main: name of the program's file. others: the project's further files but the evaluator.
    """
    try:
        tree, defined = parse_python(evaluator), _functions(parse_python(program))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "evaluator or program is no Python that can be read"
    stems = {PurePosixPath(name).stem for name in others if name.endswith(".py")}
    if needed := sorted(stems & _imported(parse_python(program))):
        return f"the program imports {needed[0]}, which is in the project's folder"
    for node in ast.walk(tree):
        if (name := _name(node)) in READERS:
            return (
                f"the evaluator may read or start the program's file (line {getattr(node, 'lineno', 1)}: "
                f"{name})"
            )
    stem = PurePosixPath(main).stem
    if any(
        isinstance(node, ast.ImportFrom) and node.module == stem and node.names[0].name == "*"
        for node in ast.walk(tree)
    ):
        return "the evaluator imports every name of the program, which could replace names of its own"
    modules = _modules(tree, stem)
    if (
        not modules
        and stem not in _imported(tree)
        and not any(_name(node) == SHINKA_RUN for node in ast.walk(tree))
    ):
        return "it cannot be seen how the evaluator loads the program"
    own = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    own |= {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
        for name in _names(node.targets)
    }
    return next(_misuses(tree, modules, defined, own), "")


def _misuses(tree: ast.AST, modules: set[str], defined: set[str], own: set[str]) -> Iterator[str]:
    """Yield uses of the program's module that are no call of a function of it with values."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in modules):
            continue
        parent, line = parents[node], f"line {node.lineno}"
        if isinstance(parent, ast.Attribute):
            if not isinstance(parent.ctx, ast.Load) or parent.attr not in defined:
                yield (
                    f"the evaluator uses {node.id}.{parent.attr}, which is no function of the program "
                    f"({line})"
                )
            above = parents[parent]
            given = (
                [*above.args, *(word.value for word in above.keywords)]
                if isinstance(above, ast.Call) and above.func is parent
                else []
            )
            if any(
                isinstance(item, ast.Lambda) or (isinstance(item, ast.Name) and item.id in own)
                for item in given
            ):
                yield f"the evaluator hands a function to the program ({line})"
        elif isinstance(parent, ast.Call) and _name(parent.func) in (
            "exec_module",
            "hasattr",
            "getattr",
            "callable",
        ):
            asked = parent.args[1] if len(parent.args) > 1 else None
            if _name(parent.func) == "getattr" and not (
                isinstance(asked, ast.Constant) and asked.value in defined
            ):
                yield (
                    "the evaluator asks the program's module for something else than a function of it "
                    f"({line})"
                )
        elif not isinstance(parent, ast.Return):
            yield f"the evaluator hands the program's module on ({line})"


def _modules(tree: ast.AST, stem: str) -> set[str]:
    """Names that hold the program's module: of what loads one, or of a function of the evaluator that returns
    one."""
    result = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.name == stem
    }
    loaders = set(LOADERS)
    while True:
        before = len(result) + len(loaders)
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and _name(node.value.func) in loaders
            ):
                result |= set(_names(node.targets))
            elif isinstance(node, ast.FunctionDef):
                returned = [item.value for item in ast.walk(node) if isinstance(item, ast.Return)]
                if any(isinstance(item, ast.Name) and item.id in result for item in returned):
                    loaders.add(node.name)
        if len(result) + len(loaders) == before:
            return result


def _functions(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def _imported(tree: ast.AST) -> set[str]:
    """First parts of the names of imported modules."""
    result = {
        name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    return result | {
        (node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.alias):
        return node.name.split(".")[0]
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0]
    return node.id if isinstance(node, ast.Name) else ""


def _names(targets: list[ast.expr]) -> list[str]:
    return [target.id for target in targets if isinstance(target, ast.Name)]
