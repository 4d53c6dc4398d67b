"""The studies: one module a theme, found by `regimes studies`.

Modules here are imported whenever studies are listed, so heavy libraries are imported inside the
functions that need them.
"""
