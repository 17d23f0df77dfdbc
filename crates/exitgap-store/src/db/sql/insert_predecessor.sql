INSERT INTO predecessor (log_no, document) VALUES (1, :document);
