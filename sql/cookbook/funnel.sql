-- How many artifacts of a line reached each gate in each cycle, and how many passed it?
SELECT * FROM funnel($line);
