-- Which families gave the prompts line problems in which cycle, why each, and how many replies were right?
SELECT feed.cycle, known.title, feed.difficulty, feed.reason, feed.score AS score_before, feed.problems, learnt.replies, learnt.correct,
    learnt.informative || ' of ' || learnt.groups AS groups_that_teach, learnt.score
FROM (SELECT cycle, family, difficulty, reason, score, count(*) AS problems FROM prompts.feed GROUP BY ALL) AS feed
LEFT JOIN (FROM prompts.learnability WHERE source = 'families') AS learnt USING (cycle, family, difficulty)
LEFT JOIN known_artifacts AS known ON known.artifact_id = feed.family
ORDER BY feed.cycle, learnt.score DESC, known.title, feed.family, feed.difficulty;
