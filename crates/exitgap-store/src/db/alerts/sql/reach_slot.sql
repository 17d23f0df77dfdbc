UPDATE counter SET value = CASE WHEN value < :slot THEN :slot ELSE value END
WHERE name = 'evaluated_slot' AND (SELECT value FROM counter WHERE name = 'changed') <= :mark;
