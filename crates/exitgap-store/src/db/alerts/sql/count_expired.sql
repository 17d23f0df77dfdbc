SELECT count(*) AS number FROM alert WHERE ended IS NULL AND expires_s <= :now_s;
