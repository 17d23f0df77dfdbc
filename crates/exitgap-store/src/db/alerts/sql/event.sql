-- FORGET_EVENTS: forgetting events
DELETE FROM event WHERE made_s < :before_s;

-- INSERT_EVENT: writing an event
INSERT INTO event (alert, seq, id, type, slot, document, made_s)
SELECT no, :seq, :id, :type, :slot, :document, :now_s FROM alert WHERE no = :alert AND ended IS NULL
ON CONFLICT (alert, seq) DO NOTHING;

-- SELECT_EVENTS: reading events
SELECT event.*, delivery.state AS sent, delivery.attempts, delivery.said
FROM event LEFT JOIN delivery ON delivery.alert = event.alert AND delivery.seq = event.seq
WHERE event.alert = :alert AND event.seq > :after_seq ORDER BY event.seq LIMIT :most;
