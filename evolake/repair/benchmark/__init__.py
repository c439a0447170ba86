"""The problems of a study: generated, perturbed, and the transfer suite."""
