"""Choose a solver's options for one kind of formulas, without building anything."""
