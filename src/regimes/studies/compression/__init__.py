"""Geometric compression of invariant directions [Paccolat 2021]."""
