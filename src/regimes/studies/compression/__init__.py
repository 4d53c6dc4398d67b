"""Studies of spec `compression`: geometric compression of invariant directions."""
