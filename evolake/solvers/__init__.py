"""SAT solvers: C and C++ repositories that evolve behind proofs, benchmarks and duels."""
