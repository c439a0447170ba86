-- Which families did a cycle retire, keep or bring back because of what the policy of the prompts line learns from them, and on which evidence?
SELECT survival.cycle, known.title, CASE WHEN lives THEN 'accepted' ELSE 'retired' END AS state, survival.score, learnt.pass_rate, learnt.factor,
    survival.before, survival.reason, learnt.prompts_cycles
FROM families.survival LEFT JOIN families.learnability AS learnt USING (cycle, family_id)
LEFT JOIN known_artifacts AS known ON known.artifact_id = family_id
ORDER BY survival.cycle, lives, survival.score DESC, known.title, family_id;
