"""Champions as one file that carries what is needed to check them again: `evolake bundle export` and `evolake
bundle verify` (docs/bundles.md)."""
