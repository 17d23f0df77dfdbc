DELETE FROM endpoint WHERE NOT EXISTS (SELECT 1 FROM alert WHERE alert.endpoint = endpoint.id);
