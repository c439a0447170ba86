-- How has each project's champion done, cycle by cycle: its held-out score with interval, the initial program's under the same seeds, the noise within a seed?
SELECT project, cycle, holder_id[:12] AS champion, wins AS changed, holder_mean AS score, holder_low AS low, holder_high AS high,
    initial_mean AS initial, noise, CASE WHEN protected THEN 'yes' ELSE 'score not protected' END AS protected
FROM programs.champion
ORDER BY project, cycle;
