-- Which checks failed, of which asset and cycle, when and why? A check that passed when its cycle was made again is left out.
SELECT origin_line AS line, cycle, asset, check_name, blocking, checked_at, reason
FROM checks_all
WHERE NOT superseded AND NOT passed
ORDER BY line, cycle, asset, check_name;
