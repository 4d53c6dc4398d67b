"""Linearised networks: what they can and cannot say [Ortiz-Jimenez 2021]."""
