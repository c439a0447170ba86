"""What a step of a design costs, counted in its operators."""
