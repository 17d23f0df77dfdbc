INSERT INTO receipt (key, signed) VALUES (:key, :signed) ON CONFLICT (key) DO NOTHING;
