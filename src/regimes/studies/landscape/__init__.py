"""Jamming, the Hessian and double descent: claims LAND-01 to LAND-78."""
