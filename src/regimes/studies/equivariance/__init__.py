"""Equivariant networks on spheres, voxels and points, and their theory: claims EQU-01 to EQU-56."""
