"""Judge: stored rows come in, verdicts come out.

`compare` sets ours beside the papers' numbers and beside older ones of ours, `difference` says which of two is slower,
`claims` judges what the papers say, `intervals` computes with uncertain numbers, `peaks` and `derived` know what a
number may be measured by, `consistency` holds the papers' numbers against each other.
"""
