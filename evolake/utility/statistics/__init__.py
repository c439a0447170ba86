"""What is found over the cells: arms at equal budgets, differences with intervals, curves."""
