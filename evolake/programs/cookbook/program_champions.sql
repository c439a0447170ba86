-- How has each project's champion done, cycle by cycle: its held-out score with interval, the initial program's under the same seeds, the noise within a seed?
-- Each cycle has seeds of its own. on_same_seeds is the newest cycle's score less what the contests since then measured as the gain of each new champion.
WITH decided AS (SELECT c.*, CASE WHEN wins THEN difference * CASE WHEN p.higher_is_better = false THEN -1 ELSE 1 END ELSE 0 END AS change
    FROM programs.champion AS c LEFT JOIN programs.projects AS p USING (project, cycle))
SELECT project, cycle, holder_id[:12] AS champion, wins AS changed, holder_mean AS score, holder_low AS low, holder_high AS high,
    CASE WHEN count(*) FILTER (change IS NULL) OVER later > 0 THEN holder_mean
        ELSE last_value(holder_mean IGNORE NULLS) OVER (PARTITION BY project ORDER BY cycle ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
            - coalesce(sum(change) OVER later, 0) END AS on_same_seeds,
    initial_mean AS initial, noise, CASE WHEN protected THEN 'yes' ELSE 'score not protected' END AS protected
FROM decided
WINDOW later AS (PARTITION BY project ORDER BY cycle ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
ORDER BY project, cycle;
