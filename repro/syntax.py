"""Python's syntax trees as text that is hashed."""

import ast
import sys


def dumped(tree: ast.AST) -> str:
    """Return a tree as text, by every Python alike as 3.12 has it: another Python voids no measurement by itself."""
    if "type_params" not in ast.FunctionDef._fields:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node._fields, node.type_params = (*type(node)._fields, "type_params"), []
    return ast.dump(tree, show_empty=True) if sys.version_info >= (3, 13) else ast.dump(tree)
