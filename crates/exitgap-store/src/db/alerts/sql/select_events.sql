SELECT event.*, delivery.state AS sent, delivery.attempts, delivery.said
FROM event LEFT JOIN delivery ON delivery.alert = event.alert AND delivery.seq = event.seq
WHERE event.alert = :alert AND event.seq > :after_seq ORDER BY event.seq LIMIT :most;
