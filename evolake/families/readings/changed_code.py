"""Changed validators: an operator made a call of a helper, and what a source calls."""

from __future__ import annotations

import ast
import copy

from evolake.parsing import parse_python


def source_of(tree: ast.Module, helper: str = "") -> str:
    """Return the source of a changed tree. helper: source of a function, put behind the docstring and imports
    from __future__."""
    start = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    docstring = bool(tree.body) and isinstance(tree.body[0], ast.Expr)
    tree.body[start + docstring : start + docstring] = parse_python(helper).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class OperatorCalls(ast.NodeTransformer):
    """Puts a call of a helper in place of an operator of two numbers."""

    def __init__(self, operator: type[ast.operator], helper: str) -> None:
        self.operator, self.helper, self.changed = operator, helper, 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace a binary operation by a call if it has the operator."""
        self.generic_visit(node)
        text = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        if not isinstance(node.op, self.operator) or text:
            return node
        self.changed += 1
        return ast.Call(func=ast.Name(self.helper, ast.Load()), args=[node.left, node.right], keywords=[])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call of `divmod` if the operator is the remainder."""
        self.generic_visit(node)
        if (
            self.operator is ast.Mod
            and isinstance(node.func, ast.Name)
            and node.func.id == "divmod"
            and len(node.args) == 2
        ):
            self.changed += 1
            quotient = ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
            rest = ast.Call(
                func=ast.Name(self.helper, ast.Load()), args=copy.deepcopy(node.args), keywords=[]
            )
            return ast.Tuple([quotient, rest], ast.Load())
        return node


def calling(tree: ast.Module, operator: type[ast.operator], helper: str, definition: str) -> str | None:
    """Return the source with the helper in place of the operator, None if it is nowhere."""
    changing = OperatorCalls(operator, helper)
    new = changing.visit(copy.deepcopy(tree))
    return source_of(new, definition) if changing.changed else None


def called_names(tree: ast.Module) -> set[str]:
    """Return the last names of everything that is called."""
    result = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                called = node.func.id
            elif isinstance(node.func, ast.Attribute):
                called = node.func.attr
            else:
                called = ""
            result.add(called)
    return result
