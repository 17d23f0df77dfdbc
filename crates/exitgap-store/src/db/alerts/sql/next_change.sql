UPDATE counter SET value = value + 1 WHERE name = 'changed' RETURNING value;
