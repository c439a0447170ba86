"""Assets, one package per line or a study (`evolake.lines` says which there are), and what they share."""
