"""A variant's sources, scripts and builds."""
