"""The study's figures, one per module, from its findings to PNG bytes. Each title says who proposed; names
are those of the files."""
