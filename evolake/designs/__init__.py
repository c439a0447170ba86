"""Designs: solvers of 3-SAT as dynamical systems, which evolve as graphs of tensor operators."""
