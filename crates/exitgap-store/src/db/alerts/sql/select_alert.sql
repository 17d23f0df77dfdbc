SELECT *, (SELECT coalesce(max(seq), 0) FROM event WHERE event.alert = alert.no) AS last_seq
FROM alert WHERE token = :token AND id = :id;
