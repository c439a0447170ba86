-- name: matches
SELECT iteration, prompt_id[:12] AS prompt, rank + 1 AS place, round(mean_reward, 3) AS mean_reward,
  round(mu, 2) AS mu, round(sigma, 2) AS sigma
FROM prompts.ratings WHERE source = 'update' AND cycle <= $cycle ORDER BY iteration DESC, rank, prompt_id
  LIMIT 30

-- name: updates
SELECT iteration, updated, informative || ' of ' || groups AS informative_groups, rollouts, rejected,
  round(correct / rollouts, 3) AS correct,
round(formatted / rollouts, 3) AS in_form, round(truncated / rollouts, 3) AS cut_off, round(mean_reward,
  3) AS mean_reward,
round(grad_norm, 3) AS grad_norm, round(kl, 5) AS kl, checkpoint_sha[:12] AS checkpoint
FROM prompts.updates WHERE cycle <= $cycle ORDER BY iteration DESC LIMIT 30

-- name: edits
SELECT kind, count(*) AS proposed, count(*) FILTER (applied) AS applied FROM prompts.edits
  WHERE cycle <= $cycle AND kind <> 'none'
GROUP BY ALL ORDER BY proposed DESC, kind

-- name: reasons
SELECT reason, count(*) AS times FROM prompts.edits WHERE cycle <= $cycle AND NOT applied AND reason <> ''
  GROUP BY ALL
ORDER BY times DESC, reason LIMIT 12

-- name: duels
SELECT cycle, champion_id[:12] AS champion, challenger_id[:12] AS challenger, wins, reason, problems
  FROM prompts.champion
WHERE cycle <= $cycle ORDER BY cycle

-- name: fed
SELECT coalesce(known.title, feed.family[:12]) AS family, feed.difficulty, feed.reason, round(feed.score,
  3) AS score_before, count(*) AS problems,
any_value(learnt.correct || ' of ' || learnt.replies) AS right_replies, round(any_value(learnt.score),
  3) AS score
FROM prompts.feed AS feed LEFT JOIN prompts.learnability AS learnt USING (cycle, family, difficulty)
LEFT JOIN known_artifacts AS known ON known.artifact_id = feed.family
WHERE feed.cycle = $cycle AND (learnt.source IS NULL OR learnt.source = 'families')
GROUP BY ALL ORDER BY score DESC NULLS LAST, family, feed.difficulty

-- name: blocked
SELECT cycle, prompt_id[:12] AS prompt, gate, rule_id, reason FROM prompts.accepted WHERE cycle <= $cycle
  AND NOT passed ORDER BY ALL

-- name: start
SELECT (SELECT any_value(prompt_id) FROM prompts.heldout WHERE cycle = '0001' AND iteration = 0) AS root,
  (SELECT count(*) FROM prompts.updates WHERE updated AND cycle <= $cycle) AS updates

-- name: policies
SELECT DISTINCT policy, arm FROM prompts.updates WHERE cycle <= $cycle ORDER BY ALL

-- name: editors
SELECT DISTINCT origin FROM prompts.children WHERE cycle <= $cycle ORDER BY ALL

-- name: sources
SELECT source, split, count(*) AS problems FROM prompts.problems WHERE cycle = $cycle GROUP BY ALL ORDER BY ALL
