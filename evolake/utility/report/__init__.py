"""What the study says to people: sentences, tables, figures, one page."""
