"""Lazy, feature and jammed training in the plane of width and scale [Geiger 2021, fig. 4]."""
