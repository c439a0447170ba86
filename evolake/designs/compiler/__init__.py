"""A graph becomes kernels: expressions, lowering, LLVM text."""
