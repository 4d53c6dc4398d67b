"""Learning curves of kernel methods [Spigler 2020]: claims KER-01 to KER-37."""
