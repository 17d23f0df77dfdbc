-- Settings of every connection.
-- Names are those of the store's own schema, whatever else lies in the database.
SET search_path = exitgap, pg_temp;
-- A commit waits for the disk, and for the standby where there is one, whatever the role is set to.
SET synchronous_commit = on;
SET client_min_messages = warning;
-- One plan per statement, over its keys, whatever is bound to it and however many rows there were when it was made.
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
-- What that makes of the estimates would have small statements compiled.
SET jit = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
-- What waits for another's lock is told so, and a statement that runs away ends.
-- A recorder that is cut off is found out while the one that waits for it still has time.
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 3;
SET tcp_keepalives_count = 3;
SET lock_timeout = '10s';
SET statement_timeout = '110s';
SET idle_in_transaction_session_timeout = '300s';
