"""The report of the study: tables, figures, HTML and LaTeX, rebuilt from the lake."""
