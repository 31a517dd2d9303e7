"""Interval arithmetic on printed numbers, and the formulas over them that the relations of a paper are written in."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from repro.model import ReproError
from repro.run.statistics import median


class Undefined(ReproError):
    """A formula without a value for the numbers at hand, as of a division by zero."""


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`.

    Raises `Undefined` when there are none; so does arithmetic that has no result, as a division by zero or of infinity
    by itself.
    """

    low: float
    high: float

    def __post_init__(self):
        if not self.low <= self.high:
            raise Undefined(f"no interval from {self.low} to {self.high}")

    @classmethod
    def of(cls, value: Any) -> Interval:
        """Return a number as an interval without width."""
        return value if isinstance(value, Interval) else cls(float(value), float(value))

    def _with(self, other: Any, operation: Callable[[float, float], float]) -> Interval:
        other = Interval.of(other)
        try:
            ends = [operation(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        except OverflowError:
            raise Undefined(f"a number too large, of {self} and {other}") from None
        if any(math.isnan(end) for end in ends):  # which min and max may pass over
            raise Undefined(f"{self} and {other} make no number")
        return Interval(min(ends), max(ends))

    def __add__(self, other):
        return self._with(other, operator.add)

    def __sub__(self, other):
        return self._with(other, operator.sub)

    def __mul__(self, other):
        return self._with(other, operator.mul)

    def __truediv__(self, other):
        other = Interval.of(other)
        if other.low <= 0 <= other.high:
            raise Undefined(f"division by {other}, which holds zero")
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other):
        return Interval.of(other) / self

    def __pow__(self, exponent):
        exponent = Interval.of(exponent)
        if exponent.low != exponent.high or exponent.low != int(exponent.low) or exponent.low < 0:
            raise ReproError("powers are whole numbers from 0 on")
        power = int(exponent.low)
        result = self._with(power, lambda a, b: a**b)
        return Interval(0.0, result.high) if power % 2 == 0 and power and self.low < 0 < self.high else result

    def __neg__(self):
        return Interval(-self.high, -self.low)

    def meets(self, other: Interval, slack: float = 1e-12) -> bool:
        """Return whether the two have a number in common, up to rounding of the arithmetic."""
        margin = slack * max(abs(self.low), abs(self.high), abs(other.low), abs(other.high))
        return self.low <= other.high + margin and other.low <= self.high + margin

    def __str__(self):
        if self.low == self.high:
            return _shown(self.low, 6)
        if not math.isfinite(self.high - self.low):
            return f"{_shown(self.low, 6)} to {_shown(self.high, 6)}"
        # as many digits as it takes to tell the ends apart
        spread = abs(self.high - self.low) / max(abs(self.low), abs(self.high))
        digits = min(15, max(3, 2 - math.floor(math.log10(spread))))
        return f"{_shown(self.low, digits)} to {_shown(self.high, digits)}"


def _shown(value: float, digits: int) -> str:
    """Return a number as papers print it: whole ones in full, others to some digits, no exponent where that reads."""
    text = f"{value:.{15 if float(value).is_integer() else digits}g}"
    return f"{Decimal(text):,f}" if 1e-4 <= abs(value) < 1e15 else text


def enclosing(*values: Interval) -> Interval:
    """Return anything from the least to the largest: what is not known better."""
    return Interval(min(value.low for value in values), max(value.high for value in values))


def _of_ends(function: Callable[[Iterable[float]], float]) -> Callable[..., Interval]:
    """A function that rises with each of its numbers, of intervals: of their low ends, and of their high ends."""
    return lambda *values: Interval(function(value.low for value in values), function(value.high for value in values))


def _compared(compare: Callable[[float, float], bool]) -> Callable[[Interval, Interval], Interval]:
    """A comparison as a number: 1 where it is true, 0 where it is not, and between them where the intervals overlap."""
    return lambda left, right: left._with(right, lambda a, b: float(compare(a, b)))


_COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS = {
    "max": _of_ends(max), "min": _of_ends(min), "median": _of_ends(median), "between": enclosing,
    "sum": lambda *values: sum(values, Interval(0, 0)),
    "mean": lambda *values: sum(values, Interval(0, 0)) / len(values),
}  # fmt: skip
_ELEMENTWISE = {"least": _FUNCTIONS["min"], "greatest": _FUNCTIONS["max"]}  # of their arguments, a value a case

Value = Interval | list[Interval]


def evaluate(formula: str, names: Mapping[str, Value]) -> Interval:
    """Return the value of a formula over intervals.

    Parameters
    ----------
    formula : str
        Numbers, names, ``+ - * / **``, ``max``, ``min``, ``sum``, ``mean``, ``median``, ``between``. Names
        that hold a list (one interval a case) combine element by element, and the functions reduce them; ``least`` and
        ``greatest`` compare their arguments element by element, and so do ``< <= > >=``, which give 1 or 0.

    Raises
    ------
    ReproError
        When the formula holds anything else, or its value is a list.
    Undefined
        When it has no value for these numbers.
    """
    value = evaluate_all(formula, names)
    if isinstance(value, list):
        raise ReproError(f"{formula!r} gives a value a case: reduce it with max or min")
    return value


def evaluate_all(formula: str, names: Mapping[str, Value]) -> Value:
    """Return the value of a formula as `evaluate` does, or a list of values, one a case."""
    return _value(_parsed(formula), names)


@functools.cache
def _parsed(formula: str) -> ast.expr:
    try:
        return ast.parse(formula, mode="eval").body
    except SyntaxError:
        raise ReproError(f"{formula!r} is no formula") from None


def reducer_of(formula: str) -> str:
    """Return the function that makes one value of all points, as ``max``; empty where a formula is not just one such.

    ``max(a) / max(b)`` is two: what a further point makes of it is not known.
    """
    tree = _parsed(formula)
    return tree.func.id if [node for node in ast.walk(tree) if _calls(node, _FUNCTIONS)] == [tree] else ""


def argument_of(formula: str) -> str:
    """Return what the function around a formula reduces: ``a / b`` of ``max(a / b)``."""
    return ", ".join(ast.unparse(each) for each in _parsed(formula).args)


def counts(formula: str) -> bool:
    """Return whether a formula makes one value of comparisons, each of which is 1 or 0: ``sum(a > b)``."""
    return bool(reducer_of(formula)) and all(isinstance(each, ast.Compare) for each in _parsed(formula).args)


def compares(formula: str) -> bool:
    """Return whether a formula has a comparison, which counts."""
    return any(isinstance(node, ast.Compare) for node in ast.walk(_parsed(formula)))


def names_of(formula: str) -> set[str]:
    """Return the names that a formula uses, functions left out."""
    return {node.id for node in ast.walk(_parsed(formula)) if isinstance(node, ast.Name)} - {*_FUNCTIONS, *_ELEMENTWISE}


def _value(node: ast.expr, names: Mapping[str, Value]) -> Value:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Interval.of(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, names)
        return [-each for each in value] if isinstance(value, list) else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _combined(_OPERATORS[type(node.op)], _value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        compare = _compared(_COMPARISONS[type(node.ops[0])])
        return _combined(compare, _value(node.left, names), _value(node.comparators[0], names))
    if _calls(node, _ELEMENTWISE) and node.args:
        return functools.reduce(
            functools.partial(_combined, _ELEMENTWISE[node.func.id]), (_value(each, names) for each in node.args)
        )
    if _calls(node, _FUNCTIONS) and node.args:
        arguments = []
        for value in (_value(argument, names) for argument in node.args):
            arguments += value if isinstance(value, list) else [value]
        return _FUNCTIONS[node.func.id](*arguments)
    raise ReproError(f"{ast.unparse(node)!r} is not allowed in a formula, or a name that is not bound")


def _calls(node: ast.AST, functions: Mapping[str, Callable]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions


def _combined(operation: Callable, left: Value, right: Value) -> Value:
    if isinstance(left, list) or isinstance(right, list):
        length = len(left) if isinstance(left, list) else len(right)
        lefts, rights = (value if isinstance(value, list) else [value] * length for value in (left, right))
        return [operation(a, b) for a, b in zip(lefts, rights, strict=True)]
    return operation(left, right)
