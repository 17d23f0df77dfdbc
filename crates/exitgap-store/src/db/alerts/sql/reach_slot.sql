UPDATE counter SET value = max(value, :slot) WHERE name = 'evaluated_slot';
