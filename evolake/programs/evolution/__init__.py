"""A cycle of the line: islands with an archive of cells, generations, the duel for the title."""
