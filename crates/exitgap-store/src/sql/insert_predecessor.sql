INSERT INTO predecessor (log_no, line) VALUES (1, :line);
