SELECT count(*) AS number FROM alert WHERE ended IS NULL;
