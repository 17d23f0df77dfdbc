SELECT event.seq, event.id, event.type, event.slot, event.document,
    NULL AS sent, NULL AS attempts, NULL AS said
FROM alert JOIN event ON event.alert = alert.no
WHERE alert.token = :token AND event.slot = :slot
ORDER BY alert.id, event.seq LIMIT :most;
