"""Changes of structure that programmers make often: a further term, a loop around statements, an early exit,
sorted items, another function or string.

Each takes and gives what the mutations of `mutations` do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from types import UnionType

import numpy as np

from evolake.programs.model.program_text import Places, parse
from evolake.programs.search.mutations import Mutation, Spans, changed, drawn, spliced, whole_lines
from evolake.programs.search.numbers import inside
from evolake.text_edits import usual_end

ALIKE = (
    ("min", "max", "sum"),
    ("sin", "cos", "tan", "tanh"),
    ("floor", "ceil", "round", "int"),
    ("exp", "log", "log1p", "expm1", "sqrt"),
    ("any", "all"),
    ("mean", "median"),
    ("uniform", "gauss"),
    ("append", "appendleft"),
    ("sorted", "reversed", "set"),
    ("zeros", "ones"),
    ("argmin", "argmax"),
    ("maximum", "minimum"),
    ("lower", "upper"),
    ("pop", "popleft"),
)
"""Functions that take the same arguments."""
TIMES = (2, 3, 5, 10, 20, 50)
SHAPES = (
    "abs({0})",
    "({0}) ** 2",
    "({0}) ** 0.5",
    "1 / ({0})",
    "max({0}, 0.0)",
    "min({0}, 1.0)",
    "-({0})",
    "int({0})",
)
LIBRARY_SHAPES = (
    "{1}.sqrt(abs({0}))",
    "{1}.exp(-abs({0}))",
    "{1}.log1p(abs({0}))",
    "{1}.sin({0})",
    "{1}.tanh({0})",
)
LIBRARIES = ("math", "np", "numpy")
QUOTED = re.compile("[\"'`]([A-Za-z_]\\w*)[\"'`]")
ALTERNATIVES = 0.8
"""Share of strings that are replaced by one which stands for the same choice, if there are such."""
LONGEST = 40
"""Characters of a string that another one may be replaced by."""
ITERABLES = (
    "sorted({0})",
    "sorted({0}, reverse=True)",
    "reversed(list({0}))",
    "list(dict.fromkeys({0}))",
    "sorted({0}, key=len)",
    "sorted({0}, key=abs)",
    "list({0})[1:]",
    "enumerate({0})",
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def term(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a name of the same function joined to an expression: added with a small factor, multiplied,
    divided by, subtracted."""
    place = _drawn_in_function(text, spans, random, ast.BinOp | ast.Name | ast.Constant | ast.Call)
    if place is None:
        return None
    node, function = place
    names = values_in(function)
    if not names:
        return None
    name = names[int(random.integers(len(names)))]
    written, way = ast.unparse(node), int(random.integers(7))
    factor = repr(float(f"{random.normal() * 0.3:.3g}"))
    other = names[int(random.integers(len(names)))]
    made = (
        f"({written} * {name})",
        f"({written} / {name})",
        f"({written} + {name})",
        f"({written} - {name})",
        f"({written} + {factor} * {name})",
        f"({written} + {factor} * {name} * {other})",
        f"({written} + {factor})",
    )[way]
    return spliced(text, Places(text).span(node), made)


def shape(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a function around an expression: of Python, or of a library of mathematics that the program
    imports."""
    place = _drawn_in_function(text, spans, random, ast.BinOp | ast.Name | ast.Call)
    if place is None:
        return None
    imported = [
        alias.asname or alias.name
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    library = next((name for name in imported if name in LIBRARIES), None)
    shapes = SHAPES + (LIBRARY_SHAPES if library else ())
    made = shapes[int(random.integers(len(shapes)))].format(ast.unparse(place[0]), library)
    return spliced(text, Places(text).span(place[0]), f"({made})")


def name(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a name that is read replaced by another name of the same function."""
    place = _drawn_in_function(text, spans, random, ast.Name)
    if place is None:
        return None
    others = [item for item in values_in(place[1]) if item != ast.unparse(place[0])]
    return (
        spliced(text, Places(text).span(place[0]), others[int(random.integers(len(others)))])
        if others
        else None
    )


def function(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a function that takes the same arguments in the place of one that is called."""

    def replaced(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            return None
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        others = [item for group in ALIKE if called in group for item in group if item != called]
        if not others:
            return None
        other = others[int(random.integers(len(others)))]
        if isinstance(node.func, ast.Name):
            node.func.id = other
        else:
            node.func.attr = other
        return node

    return changed(text, spans, random, (ast.Call,), replaced)


def repeat(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a loop around one to three neighbouring statements, at least one of which reads what they
    assign."""
    places, found = Places(text), []
    for body in bodies(parse(text)):
        for first in range(len(body)):
            for last in range(first, min(first + 3, len(body))):
                run = body[first : last + 1]
                if (
                    repeatable(run)
                    and all(whole_lines(text, places, item) for item in run)
                    and _in_blocks(places, run, spans)
                ):
                    found.append(run)
    if not found:
        return None
    run = found[int(random.integers(len(found)))]
    start, end = places.lines(run[0].lineno, run[-1].end_lineno or run[-1].lineno)
    indent = " " * run[0].col_offset
    lines = text[start:end].splitlines(keepends=True)
    head = f"{indent}for _ in range({TIMES[int(random.integers(len(TIMES)))]}):{usual_end(text)}"
    return (
        text[:start] + head + "".join(f"    {line}" if line.strip() else line for line in lines) + text[end:]
    )


def repeatable(run: Sequence[ast.stmt]) -> bool:
    """Return whether doing statements again may change the result: they read what they assign, and none of
    them leaves a loop or function."""
    stored, read = set[str](), set[str]()
    for statement in run:
        for node in ast.walk(statement):
            if isinstance(
                node,
                ast.Return
                | ast.Break
                | ast.Continue
                | ast.Import
                | ast.ImportFrom
                | ast.FunctionDef
                | ast.ClassDef,
            ):
                return False
            if isinstance(node, ast.Name):
                (stored if isinstance(node.ctx, ast.Store) else read).add(node.id)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                read.add(node.target.id)
    return bool(stored & read)


def early_exit(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a `break` or `continue` at the end of a branch within a loop."""
    places = Places(text)
    found = [
        branch.body[-1]
        for loop in ast.walk(parse(text))
        if isinstance(loop, ast.For | ast.While)
        for branch in ast.walk(loop)
        if isinstance(branch, ast.If)
        and not isinstance(branch.body[-1], ast.Break | ast.Continue | ast.Return | ast.Raise)
        and whole_lines(text, places, branch.body[-1])
        and _in_blocks(places, branch.body, spans)
    ]
    if not found:
        return None
    last = found[int(random.integers(len(found)))]
    end = places.lines(last.lineno, last.end_lineno or last.lineno)[1]
    word = "break" if random.random() < 0.7 else "continue"
    gap = "" if text[:end].endswith(("\n", "\r")) else usual_end(text)
    return f"{text[:end]}{gap}{' ' * last.col_offset}{word}{usual_end(text)}{text[end:]}"


def iterable(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return what a loop or comprehension goes over: sorted, the other way round, each once."""
    places = Places(text)
    found = [
        node.iter
        for node in ast.walk(parse(text))
        if isinstance(node, ast.For | ast.comprehension)
        and not (isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range")
    ]
    node = drawn([item for item in found if inside(*places.span(item), spans)], random)
    if node is None:
        return None
    return spliced(
        text, places.span(node), ITERABLES[int(random.integers(len(ITERABLES)))].format(ast.unparse(node))
    )


def string(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return one or two strings replaced by others that the program has or names in its comments and
    docstrings; a truth value by the other one."""
    tree, places = parse(text), Places(text)
    groups = alternatives_in(tree)
    left_out = {places_of(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    left_out |= {places_of(node) for group in groups for node in group}
    left_out |= {
        places_of(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    }
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | bool)
        and inside(*places.span(node), spans)
        and places_of(node) not in left_out
    ]
    chosen = random.permutation(len(found))[: int(random.integers(1, 3))].tolist()
    made = text
    for node in sorted((found[place] for place in chosen), key=lambda item: -places.span(item)[0]):
        peers = sorted(
            {
                str(item.value)
                for group in groups
                if node.value in [one.value for one in group]
                for item in group
            }
            - {str(node.value)}
        )
        others = (
            peers
            if peers and random.random() < ALTERNATIVES
            else [item for item in strings_in(tree, text) if item != node.value]
        )
        if isinstance(node.value, bool):
            made = spliced(made, places.span(node), str(not node.value))
        elif others:
            made = spliced(made, places.span(node), repr(others[int(random.integers(len(others)))]))
    return None if made == text else made


def alternatives_in(tree: ast.AST) -> list[list[ast.Constant]]:
    """Return groups of strings that stand for the same choice: of one list, tuple or set, keys of one dict,
    or compared with the same value."""
    found: list[Sequence[ast.expr | None]] = []
    compared: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            found.append(node.elts)
        elif isinstance(node, ast.Dict):
            found.append(node.keys)
        elif isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
            compared.setdefault(ast.unparse(node.left), []).append(node.comparators[0])
    groups = [
        [item for item in group if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        for group in [*found, *compared.values()]
    ]
    return [
        group
        for group, given in zip(groups, [*found, *compared.values()], strict=True)
        if group and len(group) == len(given)
    ]


def strings_in(tree: ast.AST, text: str) -> list[str]:
    """Return the short strings of a program, and words that its comments and docstrings have in quotes."""
    prose = {places_of(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(node.value) < LONGEST
        and places_of(node) not in prose
    }
    return sorted(constants | set(QUOTED.findall(text)))


def around_best(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Near the best so far instead of anywhere: of a loop that keeps the best of what it draws, the draw
    becomes the best plus noise."""
    tree, places, found = parse(text), Places(text), []
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For | ast.While):
            kept = dict(_kept_in(loop))
            found += [
                (node.value, kept[node.targets[0].id])
                for node in ast.walk(loop)
                if isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and node.targets[0].id in kept
                and not isinstance(node.value, ast.Name)
                and inside(*places.span(node.value), spans)
            ]
    if not found:
        return None
    value, best = found[int(random.integers(len(found)))]
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    methods = [item for item in calls if isinstance(item, ast.Attribute)]
    if not methods:
        return None
    source = ast.unparse(methods[0].value)
    noise = (
        f"{source}.{'normal' if source.startswith(('np', 'numpy')) else 'gauss'}(0.0, "
        f"{float(random.choice([0.05, 0.3, 1.0]))!r})"
    )
    made = (
        f"[part + {noise} for part in {best}]"
        if isinstance(value, ast.List | ast.ListComp)
        else f"({best} + {noise})"
    )
    return spliced(text, places.span(value), made)


def _kept_in(loop: ast.AST) -> Iterator[tuple[str, str]]:
    """(name, name of the best) of assignments in branches of a loop: `best = candidate`, alone or in a
    tuple."""
    for branch in ast.walk(loop):
        for node in branch.body if isinstance(branch, ast.If) else ():
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, value = node.targets[0], node.value
                pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                for best, candidate in pairs:
                    if isinstance(best, ast.Name) and isinstance(candidate, ast.Name):
                        yield candidate.id, best.id


def prepared(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return an argument made ready at the beginning of its function: sorted, or as a set; or results of the
    function remembered."""
    places = Places(text)
    found = [
        node
        for node in parse(text).body
        if isinstance(node, ast.FunctionDef) and node.args.args and _in_blocks(places, [node], spans)
    ]
    if not found:
        return None
    node, end = found[int(random.integers(len(found)))], usual_end(text)
    argument, way = node.args.args[int(random.integers(len(node.args.args)))].arg, int(random.integers(4))
    if way == 3 and not node.decorator_list:
        start = places.lines(node.lineno, node.lineno)[0]
        return (
            f"{text[:start]}import "
            f"functools{end}{end}{end}@functools.lru_cache(maxsize=None){end}{text[start:]}"
        )
    first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    start = places.lines(first.lineno, first.lineno)[0]
    call = ("sorted({0})", "set({0})", "sorted({0}, reverse=True)")[way % 3].format(argument)
    return f"{text[:start]}{' ' * first.col_offset}{argument} = {call}{end}{text[start:]}"


IDIOMS: dict[str, Mutation] = {
    "term": term,
    "shape": shape,
    "name": name,
    "function": function,
    "repeat": repeat,
    "early_exit": early_exit,
    "iterable": iterable,
    "string": string,
    "around_best": around_best,
    "prepared": prepared,
}
"""Name, as derivations have it -> change."""


def values_in(node: Function) -> list[str]:
    """Return names of a function that hold values: its arguments and what it assigns."""
    assigned = {
        item.id
        for item in ast.walk(node)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and item.id != "_"
    }
    return sorted(assigned | {argument.arg for argument in node.args.args})


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every list of statements that are below each other in functions."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            if not isinstance(node, ast.Module | ast.ClassDef) and isinstance(
                body := getattr(node, field, None), list
            ):
                yield body


def _drawn_in_function(
    text: str, spans: Spans, random: np.random.Generator, kinds: type[ast.expr] | UnionType
) -> tuple[ast.expr, Function] | None:
    """Return an expression of these kinds that is read in a function, and the function; no part of a longer
    name, and no function that is called."""
    places, found = Places(text), []
    for node in ast.walk(parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        left_out = {places_of(part) for item in ast.walk(node) for part in _not_values(item)}
        found += [
            (item, node)
            for statement in node.body
            for item in ast.walk(statement)
            if isinstance(item, ast.expr)
            and isinstance(item, kinds)
            and places_of(item) not in left_out
            and inside(*places.span(item), spans)
        ]
    return found[int(random.integers(len(found)))] if found else None


def places_of(node: ast.AST) -> tuple[int, int, int, int]:
    """Return where a node is."""
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def _not_values(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node that are no values to calculate with: what is called, what is assigned, docstrings,
    parts of f-strings."""
    if isinstance(node, ast.Call):
        yield node.func
    if isinstance(node, ast.Attribute):
        yield node.value
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node
    if isinstance(node, ast.JoinedStr):
        yield from ast.walk(node)
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
        yield node


def _in_blocks(places: Places, run: Sequence[ast.stmt], spans: Spans) -> bool:
    return inside(places.span(run[0])[0], places.span(run[-1])[1], spans)
