"""Publish: verdicts and rows come in, pages come out: the report, the README's generated parts."""
