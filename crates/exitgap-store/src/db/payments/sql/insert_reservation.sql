INSERT INTO reservation (id, hash, fingerprint, reserved_s)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM reservation), :hash, :fingerprint, :now_s)
ON CONFLICT (hash, fingerprint) DO NOTHING;
