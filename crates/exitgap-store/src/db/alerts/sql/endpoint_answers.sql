UPDATE endpoint SET failing_ms = NULL, said = NULL WHERE id = :endpoint AND failing_ms IS NOT NULL;
