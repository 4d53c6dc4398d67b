"""The studies: a folder per theme, in it a folder per study, found by `regimes studies`.

    studies/<theme>/<study>/__init__.py    parameters, trial, declaration
    studies/<theme>/<study>/_claims.py     the judges of its claims
    studies/<theme>/<study>/_figures.py    its figures
    studies/<theme>/_*.py                  what the studies of a theme share
    studies/_*.py                          what themes share

Modules here are imported whenever studies are listed, so heavy libraries are imported inside the
functions that need them.
"""
