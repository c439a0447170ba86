"""How complex a family's program is: generator and primary validator together, by their syntax (paper,
appendix K).

    loc, cyclomatic, Halstead    radon            cognitive    complexipy            the rest    one walk over the tree, below

The patterns and the time class are heuristics on names and structure, as in the paper: they describe a
population, they prove nothing of a program. Sources are parsed, never run. A source that `syntax.parse`
refuses is not handed to the libraries, whose recursion is not bounded.
"""  # noqa: E501

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from evolake.families.model.contract import MAX_SOURCE_BYTES, Family
from evolake.families.model.syntax import Unreadable, parse
from evolake.gates import Raised, contained

LOOPS = (ast.For, ast.While, ast.AsyncFor)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SORTING = {"sort", "sorted", "heapify", "heappush", "heappop", "nsmallest", "nlargest"}
HALVING = {"mid", "left", "right", "low", "high", "lo", "hi"}
MEMORY = re.compile(r"(?:^|_)(?:dp|memo|cache|tabulation|table|best)(?:$|_|\d)")
CACHES = {"lru_cache", "cache"}
GRAPH = re.compile(
    r"(?:^|_)(?:bfs|dfs|dijkstra|bellman|floyd|graph|visited|queue|stack|adjacency|neighbours?|neighbors?|"
    r"edges?)(?:$|_|\d)"
)
DIVIDING = {"mid", "half", "divide"}
ENUMERATORS = {"product", "permutations", "combinations", "combinations_with_replacement"}


@dataclass
class Structure:
    """What one walk over a tree collects."""

    loops: int = 0
    loop_depth: int = 0
    while_names: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    decorators: set[str] = field(default_factory=set)
    self_calls: dict[str, int] = field(default_factory=dict)
    all_subsets: bool = False


def complexity_row(family: Family, cycle: str) -> dict[str, Any]:
    """Return a row of COMPLEXITY; parsed is false and all measures null where the sources cannot be parsed,
    or a measure raises."""
    head = {
        "family_id": family.family_id,
        "cycle": cycle,
        "operator": family.operator,
        "category": family.category,
    }
    result = contained(measure, family.generator + "\n\n" + family.validator)
    measured = None if isinstance(result, Raised) else result
    return head | {"parsed": measured is not None} | (measured or {})


def measure(source: str) -> dict[str, Any] | None:
    """Return the measures of a program by the column names of COMPLEXITY, None where it cannot be parsed."""
    try:
        tree = parse(source, 2 * MAX_SOURCE_BYTES + 2)
    except Unreadable:
        return None
    from complexipy import code_complexity
    from radon.metrics import h_visit_ast
    from radon.raw import analyze

    result, halstead = structure(tree), h_visit_ast(tree).total
    return {
        "loc": analyze(source).sloc,
        "cyclomatic": cyclomatic(tree),
        "cognitive": code_complexity(source).complexity,
        "halstead_volume": float(halstead.volume),
        "halstead_difficulty": float(halstead.difficulty),
        "halstead_effort": float(halstead.effort),
        "loops": result.loops,
        "loop_depth": result.loop_depth,
        "recursive": bool(result.self_calls),
        **patterns(result),
        "time_class": time_class(result),
    }


def cyclomatic(tree: ast.Module) -> int:
    """Return 1 and one per decision point. radon leaves functions within functions out, of which a composed
    family consists: they are added here."""
    from radon.visitors import ComplexityVisitor

    total = ComplexityVisitor.from_ast(tree).total_complexity
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and inside:
            total += ComplexityVisitor.from_ast(ast.Module([node], [])).functions[0].complexity - 1
        waiting.extend((child, inside or is_function) for child in ast.iter_child_nodes(node))
    return total


def structure(tree: ast.AST) -> Structure:
    """Return loops and their nesting (comprehensions count as loops, one a `for`), names, calls, calls of a
    function within itself."""
    result = Structure()
    waiting: list[tuple[ast.AST, int, tuple[str, ...]]] = [(tree, 0, ())]
    while waiting:
        node, depth, inside = waiting.pop()
        if isinstance(node, LOOPS):
            depth += 1
            result.loops += 1
        elif isinstance(node, COMPREHENSIONS):
            depth += len(node.generators)
            result.loops += len(node.generators)
        result.loop_depth = max(result.loop_depth, depth)
        if isinstance(node, ast.While):
            result.while_names |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            result.decorators |= {name for item in node.decorator_list if (name := called(item))}
            result.names.add(node.name)
            depth, inside = 0, (*inside, node.name)
        elif isinstance(node, ast.Call) and (name := called(node)):
            result.calls.add(name)
            if name in inside:
                result.self_calls[name] = result.self_calls.get(name, 0) + 1
            result.all_subsets |= name == "range" and any(
                power_of_two(part) for argument in node.args for part in ast.walk(argument)
            )
        elif isinstance(node, ast.Name):
            result.names.add(node.id)
        elif isinstance(node, ast.arg):
            result.names.add(node.arg)
        waiting.extend((child, depth, inside) for child in ast.iter_child_nodes(node))
    return result


def power_of_two(node: ast.AST) -> bool:
    """Return whether this is `1 << n` or `2 ** n`: a range over it goes through all subsets."""
    if (
        not isinstance(node, ast.BinOp)
        or not isinstance(node.left, ast.Constant)
        or isinstance(node.right, ast.Constant)
    ):
        return False
    if isinstance(node.op, ast.LShift):
        base = 1
    elif isinstance(node.op, ast.Pow):
        base = 2
    else:
        base = None
    return node.left.value == base


def called(node: ast.expr) -> str:
    """Return the last name of what is called or used as decorator; "" for anything else."""
    target = node.func if isinstance(node, ast.Call) else node
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    return ""


def patterns(result: Structure) -> dict[str, bool]:
    """Return the paper's pattern flags; they do not exclude each other."""
    return {
        "binary_search": "mid" in result.while_names and len(result.while_names & HALVING) >= 2,
        "sorting": bool(result.calls & SORTING),
        "dynamic_programming": bool(result.decorators & CACHES)
        or any(MEMORY.search(name.lower()) for name in result.names),
        "graph_traversal": any(GRAPH.search(name.lower()) for name in result.names),
        "divide_and_conquer": bool(result.self_calls) and bool(result.names & DIVIDING),
    }


def time_class(result: Structure) -> str:
    """Return a bucket of the paper's: O(1), O(log n), O(n), O(n log n), O(n^2), O(n^3), O(n^4+), O(|V|+|E|),
    O(2^n), Other.

    By the first that holds: enumeration (itertools, all subsets, branching recursion without a memory), graph
    traversal, then the nesting of loops.
    """
    flags = patterns(result)
    branching = max(result.self_calls.values(), default=0) >= 2
    if (
        result.calls & ENUMERATORS
        or result.all_subsets
        or (branching and not flags["dynamic_programming"] and not flags["divide_and_conquer"])
    ):
        return "O(2^n)"
    if flags["graph_traversal"] and result.loop_depth >= 2:
        return "O(|V|+|E|)"
    if result.self_calls and not result.loops:
        return "O(n log n)" if flags["divide_and_conquer"] else "Other"
    if result.loop_depth == 0:
        return "O(n log n)" if flags["sorting"] else "O(1)"
    if result.loop_depth == 1:
        if flags["binary_search"] and result.loops == 1:
            return "O(log n)"
        if flags["sorting"]:
            return "O(n log n)"
        return "O(n)"
    return f"O(n^{result.loop_depth})" if result.loop_depth < 4 else "O(n^4+)"
