SELECT count(*) AS number FROM delivery WHERE alert = :alert AND state = 'pending';
