-- NEXT_CHANGE: numbering a change
UPDATE counter SET value = value + 1 WHERE name = 'changed' RETURNING value;

-- REACH_SLOT: noting a slot
UPDATE counter SET value = CASE WHEN value < :slot THEN :slot ELSE value END
WHERE name = 'evaluated_slot' AND (SELECT value FROM counter WHERE name = 'changed') <= :mark;

-- SELECT_COUNTER: reading a counter
SELECT value FROM counter WHERE name = :name;
