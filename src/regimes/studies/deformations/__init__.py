"""Smooth deformations and relative stability [Petrini 2021]: claims DEF-01 to DEF-44."""
