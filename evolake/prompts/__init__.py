"""System prompts that evolve while the policy learns (E-SPL): prompts with lineage and ratings, next to the
weights that use them."""
