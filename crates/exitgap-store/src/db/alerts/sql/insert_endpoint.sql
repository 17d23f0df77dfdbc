INSERT INTO endpoint (id, token, url, host, salt, state, challenge_ms)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM endpoint), :token, :url, :host, :salt, 'unverified', :now_ms)
ON CONFLICT (token, url) DO NOTHING;
