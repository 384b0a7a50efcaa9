"""Evaluation of locators: datasets, gold, metrics, comparisons, engines, reports.

`runner.evaluate` is the use case; `graphloc.cli` hands it the methods, so this package knows none
but its own baselines.
"""
