-- COUNT_EXPIRED: counting rules
SELECT count(*) AS number FROM alert WHERE ended IS NULL AND expires_s <= :now_s;

-- COUNT_LIVE: counting rules
SELECT count(*) AS number FROM alert WHERE ended IS NULL;

-- COUNT_OF_CLIENT: counting rules
SELECT count(*) AS number FROM alert WHERE client = :client AND ended IS NULL;

-- COUNT_OF_TOKEN: counting rules
SELECT count(*) AS number FROM alert WHERE token = :token;

-- END_ALERT: ending a rule
UPDATE alert SET ended = :why, ended_s = :now_s, changed = :changed
WHERE no = :alert AND ended IS NULL;

-- EXPIRE: ending rules
UPDATE alert SET ended = 'expired', ended_s = :now_s, changed = :changed
WHERE ended IS NULL AND expires_s <= :now_s;

-- FORGET_ALERTS: forgetting rules
DELETE FROM alert WHERE ended_s < :before_s;

-- FORGET_EVENTS: forgetting events
DELETE FROM event WHERE made_s < :before_s;

-- INSERT_ALERT: keeping a rule
INSERT INTO alert
    (no, id, token, client, idempotency, request, rule, endpoint, created_s, expires_s, run, run_slot, state, state_slot, changed)
VALUES
    ((SELECT coalesce(max(no), 0) + 1 FROM alert), :id, :token, :client, :idempotency, :request, :rule, :endpoint, :created_s,
    :expires_s, :run, 0, :state, 0, :changed);

-- INSERT_EVENT: writing an event
INSERT INTO event (alert, seq, id, type, slot, document, made_s)
SELECT no, :seq, :id, :type, :slot, :document, :now_s FROM alert WHERE no = :alert AND ended IS NULL
ON CONFLICT (alert, seq) DO NOTHING;

-- NEXT_CHANGE: numbering a change
UPDATE counter SET value = value + 1 WHERE name = 'changed' RETURNING value;

-- REACH_SLOT: noting a slot
UPDATE counter SET value = CASE WHEN value < :slot THEN :slot ELSE value END
WHERE name = 'evaluated_slot' AND (SELECT value FROM counter WHERE name = 'changed') <= :mark;

-- RENEW: renewing rules
UPDATE alert SET expires_s = :until_s WHERE token = :token AND ended IS NULL AND expires_s < :until_s;

-- SELECT_ALERT: reading a rule
SELECT *, (SELECT coalesce(max(seq), 0) FROM event WHERE event.alert = alert.no) AS last_seq
FROM alert WHERE token = :token AND id = :id;

-- SELECT_ALERTS: reading rules
SELECT *, (SELECT coalesce(max(seq), 0) FROM event WHERE event.alert = alert.no) AS last_seq
FROM alert WHERE token = :token ORDER BY no DESC LIMIT :most;

-- SELECT_CHANGED: reading what changed
SELECT no, rule, run, state, ended IS NOT NULL AS over FROM alert WHERE changed > :mark ORDER BY changed, no;

-- SELECT_COUNTER: reading a counter
SELECT value FROM counter WHERE name = :name;

-- SELECT_COUNTS: counting
SELECT
    (SELECT count(*) FROM alert WHERE ended IS NULL) AS alerts,
    (SELECT count(*) FROM event) AS events,
    (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending,
    (SELECT count(*) FROM delivery WHERE state = 'delivered') AS delivered,
    (SELECT count(*) FROM delivery WHERE state = 'given_up') AS given_up;

-- SELECT_EVENTS: reading events
SELECT event.*, delivery.state AS sent, delivery.attempts, delivery.said
FROM event LEFT JOIN delivery ON delivery.alert = event.alert AND delivery.seq = event.seq
WHERE event.alert = :alert AND event.seq > :after_seq ORDER BY event.seq LIMIT :most;

-- SELECT_MADE_BEFORE: reading a rule
SELECT *, (SELECT coalesce(max(seq), 0) FROM event WHERE event.alert = alert.no) AS last_seq
FROM alert WHERE token = :token AND idempotency = :idempotency;

-- SELECT_SAID_IN: reading events
SELECT event.seq, event.id, event.type, event.slot, event.document,
    NULL AS sent, NULL AS attempts, NULL AS said
FROM alert JOIN event ON event.alert = alert.no
WHERE alert.token = :token AND event.slot = :slot
ORDER BY alert.id, event.seq LIMIT :most;

-- UPDATE_RUN: writing a run
UPDATE alert SET run = :run, run_slot = :slot WHERE no = :alert AND run_slot < :slot;

-- UPDATE_STATE: writing a state
UPDATE alert SET state = :state, state_slot = :slot WHERE no = :alert AND state_slot < :slot;
