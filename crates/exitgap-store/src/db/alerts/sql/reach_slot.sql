UPDATE counter SET value = max(value, :slot)
WHERE name = 'evaluated_slot' AND (SELECT value FROM counter WHERE name = 'changed') <= :mark;
