"""Two hypotheses and a finite memory [Geiger 2022]: claims POM-01 to POM-38."""
