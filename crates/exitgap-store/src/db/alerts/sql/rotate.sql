UPDATE endpoint SET generation = generation + 1, rotated_ms = :now_ms WHERE id = :endpoint;
