"""Tables on a terminal: however narrow the window, no number is cut; columns that do not fit beside go below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions
from rich.markup import escape
from rich.table import Table

GAP = 2  # characters between columns
LEAST = 20  # no number is longer; text that is, is folded where it would not fit even by itself


@dataclass(frozen=True)
class Sheet:
    """A table for Rich to print: as several, each with the key columns, where the window is too narrow for one."""

    title: str
    names: Sequence[str]  #: headings; they are folded at spaces where that helps
    lines: Sequence[Sequence[str]]  #: cells as text; they stay on their line
    notes: Sequence[str] = ()  #: below it

    def keys(self) -> int:
        """Return how many columns at the left it takes to tell the rows apart."""
        for count in range(1, len(self.names)):
            if len({tuple(line[:count]) for line in self.lines}) == len(self.lines):
                return count
        return 1

    def parts(self, room: int) -> list[dict[int, int]]:
        """Return the columns of each part, and the width of each, for a window of so many characters."""
        cells = [max((len(line[i]) for line in self.lines), default=0) for i in range(len(self.names))]
        whole = {i: max(len(name), cells[i]) for i, name in enumerate(self.names)}
        if _width(whole) <= room:
            return [whole]
        folded = {i: max(cells[i], *map(len, name.split() or [""])) for i, name in enumerate(self.names)}
        keys = {i: folded[i] for i in range(self.keys())}
        parts = [dict(keys)]
        for i in range(len(keys), len(folded)):
            if len(parts[-1]) > len(keys) and _width(parts[-1]) + GAP + folded[i] > room:
                parts.append(dict(keys))
            parts[-1][i] = min(folded[i], max(room - _width(keys) - GAP, LEAST))
        return parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | str]:
        """Yield what Rich is to print."""
        if self.title:
            yield escape(self.title)
        for part in self.parts(options.max_width):
            made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
            for i, width in part.items():
                right = i and any(line[i].lstrip("+-")[:1].isdigit() for line in self.lines)
                made.add_column(
                    escape(self.names[i]), justify="right" if right else "left", width=width, overflow="fold"
                )
            for line in self.lines:
                made.add_row(*(escape(line[i]) for i in part))
            yield ""
            yield made
        yield ""
        yield from map(escape, self.notes)
        if self.notes:
            yield ""


def _width(columns: dict[int, int]) -> int:
    return sum(columns.values()) + GAP * (len(columns) - 1)
