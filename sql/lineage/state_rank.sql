-- How far has an artifact come? A number that grows from candidate to retired; unknown states come first.
CREATE MACRO state_rank(state) AS coalesce(list_position(['candidate', 'blocked', 'accepted', 'champion', 'retired'], state), 0);
