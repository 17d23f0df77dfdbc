SELECT count(*) AS number FROM alert WHERE client = :client AND ended IS NULL;
