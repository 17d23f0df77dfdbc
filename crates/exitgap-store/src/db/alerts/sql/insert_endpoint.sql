INSERT INTO endpoint (token, url, host, salt, state, challenge_ms)
VALUES (:token, :url, :host, :salt, 'unverified', :now_ms)
ON CONFLICT (token, url) DO NOTHING;
