"""Alignment of the tangent kernel with the labels [Baratin 2021]: claims ALI-01 to ALI-38."""
