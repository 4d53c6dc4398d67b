"""Studies of spec `regimes`: lazy, feature and jammed training in the plane of width and scale."""
