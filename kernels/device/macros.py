"""A kernel's text after the preprocessor, without what only its compiler knows."""

from __future__ import annotations

import io
import re

import pcpp

#: Beginnings of the names that a compiler defines, or a back end by its command line.
COMPILERS = ("_", "DIALECT_", "cl_")
#: Of each prelude's compilers, beginnings of the names that they never define.
NEVER = {
    "prelude_openmp.h": ("__CUDA", "__OPENCL"), "prelude_cuda.h": ("__OPENCL",), "prelude_opencl.h": ("__CUDACC",),
}  # fmt: skip
#: And the names that they always define, as what is theirs to know.
ALWAYS = {"prelude_openmp.h": (), "prelude_cuda.h": ("__CUDACC__",), "prelude_opencl.h": ("__OPENCL_VERSION__",)}
PRAGMAS = re.compile(r'^\s*#\s*pragma\b.*|_Pragma\s*\("[^"\n]*"', re.MULTILINE)


class Preprocessor(pcpp.Preprocessor):
    """Expands macros and decides a text's own conditions; leaves those on a compiler with all of their branches.

    Attributes
    ----------
    open : set of str
        Macros that are defined or not by such a condition.
    """

    def __init__(self, text: str, prelude: str | None = None):
        """Read a text; where its prelude is told leave open macros and their definitions, else take each one's last."""
        self.keeps = prelude is not None
        self._never, self._always = NEVER.get(prelude, ()), ALWAYS.get(prelude, ())
        self.open: set[str] = set()
        self._outer: list[bool] = []  # whether what a condition lies in depends on the compiler
        self._is_open = False
        self._bodies: dict[str, list[str]] = {}
        self._closed: dict[str, list[str]] = {}
        super().__init__()
        self.line_directive = None
        self.parse(re.sub(r"^#line [^\n]*$", "", text, flags=re.MULTILINE))
        out = io.StringIO()
        self.write(out)
        self.text = out.getvalue()

    def on_include_not_found(self, *_):
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndPassThrough)

    def on_directive_handle(self, directive, toks, ifpassthru, precedingtoks):
        if directive.value in ("if", "ifdef", "ifndef"):
            self._outer.append(ifpassthru)
        elif directive.value == "endif" and self._outer:
            self._outer.pop()
        self._is_open = ifpassthru or any(self._outer)
        super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)
        return None if self.keeps and self._is_open else True  # None: it stays in the text, too

    def define(self, tokens):
        super().define(tokens)
        if not isinstance(tokens, str):
            self._note("define", tokens)

    def undef(self, tokens):
        super().undef(tokens)
        self._note("undef", tokens)

    def _note(self, directive: str, tokens) -> None:
        name, definition = tokens[0].value, f"#{directive} {''.join(token.value for token in tokens)}"
        self._bodies.setdefault(name, []).append(definition)
        if self._is_open:
            self.open.add(name)
            if self.keeps:
                self.macros.pop(name, None)
        else:
            self._closed.setdefault(name, []).append(definition)

    def on_unknown_macro_in_defined_expr(self, token):
        return True if token.value in self._always else None if self._is_unknown(token.value) else False

    def on_unknown_macro_in_expr(self, ident):
        return None if self._is_unknown(ident) else 0

    def on_unknown_macro_function_in_expr(self, ident):
        return None if self._stays(ident) else super().on_unknown_macro_function_in_expr(ident)

    def _is_unknown(self, name: str) -> bool:
        return self._stays(name) or (name.startswith(COMPILERS) and not name.startswith(self._never))

    def _stays(self, name: str) -> bool:
        return self.keeps and name in self.open

    def on_error(self, file, line, message):
        raise ValueError(f"{file}:{line}: {message}")

    def expanded(self) -> str:
        """Return the text with every run of white space one blank, and of open macros only the used ones.

        These are followed by the definitions of what they are made of.
        """
        lines = [(re.match(r"\s*#\s*(?:define|undef)\s+(\w+)", line), line) for line in self.text.splitlines()]
        used = self._with_what_they_name(self.open & _names(" ".join(line for is_macro, line in lines if not is_macro)))
        kept = [line for macro, line in lines if not macro or macro[1] in used]
        made_of = [each for name in sorted(used) for each in self._closed.get(name, ())]
        return " ".join(" ".join([*kept, *made_of]).split())

    def of_pragmas(self) -> list[str]:
        """Return the definitions of macros that pragmas name: only a compiler expands them there."""
        used = self._with_what_they_name(self._bodies.keys() & _names(" ".join(PRAGMAS.findall(self.text))))
        return [" ".join(each.split()) for name in sorted(used) for each in self._bodies[name]]

    def _with_what_they_name(self, macros: set[str]) -> set[str]:
        found: set[str] = set()
        while macros:
            found |= macros
            bodies = " ".join(body for name in macros for body in self._bodies[name])
            macros = self._bodies.keys() & _names(bodies) - found
        return found


def _names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def expanded(text: str, prelude: str) -> str:
    """Return a text with its macros expanded and its own conditions decided, every run of white space one blank.

    Conditions on what a compiler is the first to know, see `COMPILERS`, stay with all of their branches, and so do
    system includes. Macros that such a condition defines are as in its last branch. They stay, with their
    definitions, where the prelude's compiler may take another branch. Macros that a pragma names stay, too, and their
    definitions follow the text.
    """
    chosen = last = Preprocessor(text)
    found = " ".join(last.text.split())
    if last.open:
        every = Preprocessor(text, prelude)
        if (with_every := every.expanded()) != Preprocessor(last.text, prelude).expanded():
            chosen, found = every, with_every
    return " ".join([found, *chosen.of_pragmas()])
