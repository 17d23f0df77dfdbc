SELECT state, count(*) AS number FROM payment GROUP BY state;
