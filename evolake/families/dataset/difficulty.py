"""How hard families are, by executed work, and how complex, by syntax.

A family's difficulties are its generator's own. The gate `static` counts the source lines that the primary
validator executes at some of them; here families are put side by side by it: what a level costs, and how far
it means the same in all. Work is not what a solver finds hard: if a policy was asked, its pass rate is shown,
too.

Complexity is that of generator and primary validator together (paper, appendix K).

    loc, cyclomatic, Halstead    radon
    cognitive                    complexipy
    the rest                     one walk over the tree, below

The patterns and the time class are heuristics on names and structure, as in the paper: they describe a
population, they prove nothing of a program. Sources are parsed, never run. A source that `parse` refuses is
not handed to the libraries, whose recursion is not bounded.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from evolake.families.evolution.records import load_evidence
from evolake.families.model.contract import MAX_SOURCE_BYTES, Family
from evolake.families.model.source_code import Unreadable, parse
from evolake.families.worlds import NAMES
from evolake.gates import Raised, contained
from evolake.lake import BlobStore

SEEDS, WORLDS, CHILDREN = "seeds", "drawn worlds", "children of families"
GROUPS = (SEEDS, WORLDS, CHILDREN)
WORK = {"family_id": pl.String, "group": pl.String, "difficulty": pl.Int64, "work": pl.Float64}
"""Columns of work: of one family at one difficulty, mean executed lines of its primary validator."""


def group_of(operator: str) -> str:
    """Return which of `GROUPS` a family belongs to."""
    if operator == "seed":
        return SEEDS
    if operator in NAMES:
        return WORLDS
    return CHILDREN


def work_of(families: Iterable[tuple[str, str, Iterable[tuple[int, float]]]]) -> pl.DataFrame:
    """Return a frame of `WORK` from (family_id, operator, (difficulty, executed lines) pairs)."""
    rows = [
        (family, group_of(operator), level, float(lines))
        for family, operator, pairs in families
        for level, lines in pairs
    ]
    return pl.DataFrame(rows, schema=WORK, orient="row")


def work_in(rows: Iterable[Mapping[str, Any]], blobs: BlobStore) -> pl.DataFrame:
    """Return a frame of `WORK` from rows of FAMILIES, by the stored evidence of the gate `static`; a family
    that did not come there has no row.

    Raises CorruptPart.
    """
    seen = (
        (row["family_id"], row["operator"], json.loads(row["evidence"] or "{}").get("static")) for row in rows
    )
    return work_of(
        (family, operator, load_evidence(sha, blobs)["evidence"].get("work", ()))
        for family, operator, sha in seen
        if sha
    )


def curve(work: pl.DataFrame) -> pl.DataFrame:
    """Return group, difficulty, families, and the quartiles of their work: lower, median, upper. In the order
    of `GROUPS`, then by difficulty."""
    return (
        work.group_by("group", "difficulty")
        .agg(
            families=pl.len(),
            lower=pl.col("work").quantile(0.25, "linear"),
            median=pl.col("work").median(),
            upper=pl.col("work").quantile(0.75, "linear"),
        )
        .sort(
            pl.col("group").replace_strict(
                {name: place for place, name in enumerate(GROUPS)}, return_dtype=pl.Int64
            ),
            "difficulty",
        )
    )


def agreement(work: pl.DataFrame) -> float:
    """Return how often the higher difficulty takes more work, of all pairs of two families at two
    difficulties; a tie counts half.

    1: a level says the same in every family. 0.5: across families it says nothing. NaN if there is no such
    pair.
    """
    table = _table(work)
    won = pairs = 0.0
    for place, low in enumerate(table):
        for high in table[place + 1 :]:
            seen = np.sort(low[~np.isnan(low)])
            met = high[~np.isnan(high)]
            won += (np.searchsorted(seen, met, "left") + np.searchsorted(seen, met, "right")).sum() / 2
            own = ~np.isnan(low) & ~np.isnan(high)
            won -= (low[own] < high[own]).sum() + (low[own] == high[own]).sum() / 2
            pairs += len(seen) * len(met) - own.sum()
    return float(won / pairs) if pairs else float("nan")


def common_levels(work: pl.DataFrame) -> pl.DataFrame:
    """Return every row with its level on one scale for all families, column `common`: the difficulty at which
    the median family does as much work.

    Between the measured difficulties the logarithm of work is interpolated; less or more work than the median
    family ever does is the first or the last of them.
    """
    if work.is_empty():
        return work.with_columns(common=pl.lit(None, pl.Float64))
    middle = work.group_by("difficulty").agg(pl.col("work").median()).sort("difficulty")
    rising = np.maximum.accumulate(np.log1p(middle["work"].to_numpy()))
    kept = np.concatenate([[True], np.diff(rising) > 0])
    levels = middle["difficulty"].to_numpy().astype(float)[kept]
    return work.with_columns(
        common=pl.Series(np.interp(np.log1p(work["work"].to_numpy()), rising[kept], levels))
    )


def _table(work: pl.DataFrame) -> np.ndarray:
    """(difficulties, families), NaN where a family has none."""
    if work.is_empty():
        return np.empty((0, 0))
    wide = work.pivot("difficulty", index="family_id", values="work")
    columns = sorted((name for name in wide.columns if name != "family_id"), key=int)
    return wide.select(pl.col(columns).cast(pl.Float64)).to_numpy().T


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
