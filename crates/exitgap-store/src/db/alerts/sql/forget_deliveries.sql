DELETE FROM delivery
WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.alert = delivery.alert AND event.seq = delivery.seq);
