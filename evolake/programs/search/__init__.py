"""Search without a model: typed changes of syntax trees, crossover of functions, numbers tuned."""
