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
