SELECT
    (SELECT count(*) FROM alert WHERE ended IS NULL) AS alerts,
    (SELECT count(*) FROM event) AS events,
    (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending,
    (SELECT count(*) FROM delivery WHERE state = 'delivered') AS delivered,
    (SELECT count(*) FROM delivery WHERE state = 'given_up') AS given_up;
