"""Do the papers' claims hold? Each claim is data under ``published/``; each verdict is computed from stored results.

>>> for verdict in verdicts(Path("results"), paper="fu2014"):          # doctest: +SKIP
...     print(verdict.id, verdict.outcome, verdict.why)
"""

from repro.judge.claims.judging import machines, verdicts
from repro.judge.claims.ledger import claims
from repro.judge.claims.model import (
    CITED,
    CONTRADICTED,
    EXCEEDED,
    OUTCOMES,
    REPRODUCED,
    UNDECIDED,
    WEAKER,
    Claim,
    Judgement,
    Predicate,
    Verdict,
)  # fmt: skip

__all__ = [
    "CITED", "CONTRADICTED", "EXCEEDED", "OUTCOMES", "REPRODUCED", "UNDECIDED", "WEAKER", "Claim", "Judgement",
    "Predicate", "Verdict", "claims", "machines", "verdicts",
]  # fmt: skip
