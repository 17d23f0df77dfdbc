UPDATE endpoint SET failing_ms = coalesce(failing_ms, :now_ms), said = :said WHERE id = :endpoint
RETURNING failing_ms;
