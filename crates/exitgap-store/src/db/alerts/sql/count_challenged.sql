SELECT count(*) AS number FROM challenged WHERE host = :host AND at_ms > :since_ms;
