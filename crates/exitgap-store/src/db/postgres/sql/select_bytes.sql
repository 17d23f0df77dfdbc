-- What the database weighs: known to a server only.
SELECT pg_database_size(current_database());
