"""Judge: stored rows come in, verdicts come out.

`compare` sets ours beside the papers' numbers and beside older ones of ours, `difference` says which of two is slower,
`spread` in which interval a median lies on another day, `repeating` whether it does. `claims` judges what the papers
say, `consistency` holds their numbers against each other, `intervals` computes with uncertain ones. `roofs`,
`peaks` and `derived` know what a number may be measured by. `verify` recomputes what is stored, with `provenance`,
`trees`, `allowed` and `pages`; `same_code` compares the code of commits, `believing` tries a belief on a sample.
"""
