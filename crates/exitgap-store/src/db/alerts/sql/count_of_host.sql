SELECT count(*) AS number FROM endpoint
JOIN alert ON alert.endpoint = endpoint.id
WHERE endpoint.host = :host AND alert.ended IS NULL;
