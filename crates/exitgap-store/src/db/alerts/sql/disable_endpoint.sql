UPDATE endpoint SET state = 'disabled', said = :said WHERE id = :endpoint;
