-- How many artifacts of a line came to each gate in each cycle, and how many did it let through?
SELECT * FROM funnel($line);
