-- COUNT_PENDING: counting deliveries
SELECT count(*) AS number FROM delivery WHERE alert = :alert AND state = 'pending';

-- DELIVERED: noting a delivery
UPDATE delivery SET state = 'delivered', said = NULL WHERE alert = :alert AND seq = :seq AND state = 'pending';

-- FORGET_DELIVERIES: forgetting deliveries
DELETE FROM delivery
WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.alert = delivery.alert AND event.seq = delivery.seq);

-- GIVE_UP: giving up a delivery
UPDATE delivery SET state = 'given_up', said = :said WHERE alert = :alert AND seq = :seq AND state = 'pending';

-- INSERT_DELIVERY: writing a delivery
INSERT INTO delivery (alert, seq, state, due_ms)
SELECT no, :seq, 'pending', :due_ms FROM alert WHERE no = :alert AND endpoint IS NOT NULL
ON CONFLICT (alert, seq) DO NOTHING;

-- LEASE_DELIVERY: taking a delivery
UPDATE delivery SET leased_ms = :until_ms, attempts = attempts + 1
WHERE alert = :alert AND seq = :seq AND state = 'pending' AND (leased_ms <= :now_ms OR leased_ms > :wrong_ms);

-- PUT_OFF: putting off a delivery
UPDATE delivery SET due_ms = :due_ms, leased_ms = 0, failures = failures + 1, said = :said
WHERE alert = :alert AND seq = :seq AND state = 'pending';

-- SELECT_DUE: reading deliveries
SELECT delivery.alert, delivery.seq, delivery.failures, event.id AS event_id, event.document,
    endpoint.id AS endpoint, endpoint.url, endpoint.host, endpoint.salt, endpoint.generation, endpoint.rotated_ms
FROM delivery
JOIN alert ON alert.no = delivery.alert
JOIN endpoint ON endpoint.id = alert.endpoint
JOIN event ON event.alert = delivery.alert AND event.seq = delivery.seq
-- A lease that ends much later than one that is taken now is of a clock that was wrong.
WHERE delivery.state = 'pending' AND delivery.due_ms <= :now_ms AND (delivery.leased_ms <= :now_ms OR delivery.leased_ms > :wrong_ms)
    AND endpoint.state = 'verified' AND alert.ended IS DISTINCT FROM 'deleted'
    -- What comes after another waits until that one came, or was given up.
    AND NOT EXISTS (
        SELECT 1 FROM delivery AS earlier INDEXED BY delivery_pending
        WHERE earlier.alert = delivery.alert AND earlier.seq < delivery.seq AND earlier.state = 'pending'
    )
ORDER BY delivery.due_ms LIMIT :most;

-- SEND_AGAIN: sending again
INSERT INTO delivery (alert, seq, state, due_ms)
SELECT alert, seq, 'pending', :now_ms FROM event WHERE alert = :alert AND seq >= :from_seq
ON CONFLICT (alert, seq) DO UPDATE SET state = 'pending', due_ms = :now_ms, attempts = 0, failures = 0, leased_ms = 0
WHERE delivery.state <> 'pending';
