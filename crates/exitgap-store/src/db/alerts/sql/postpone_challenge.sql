UPDATE endpoint SET challenge_ms = :at_ms WHERE id = :endpoint;
