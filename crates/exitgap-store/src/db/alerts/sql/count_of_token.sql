SELECT count(*) AS number FROM alert WHERE token = :token;
