-- INSERT_LOG: naming the log
INSERT INTO log (log_no, verifier_key, first_slot) VALUES (1, :verifier_key, :first_slot);

-- INSERT_LOG_KEY: naming a key
INSERT INTO log_key (key_no, verifier_key) VALUES (:key_no, :verifier_key);

-- INSERT_LOG_NODE: writing the log's tree
INSERT INTO log_node (level, node_index, sha256) VALUES (:level, :node_index, :sha256);

-- INSERT_PREDECESSOR: naming the log's predecessor
INSERT INTO predecessor (log_no, document) VALUES (1, :document);

-- SELECT_LOG: reading the log's name
SELECT verifier_key, first_slot FROM log;

-- SELECT_LOG_KEYS: reading the log's keys
SELECT key_no, verifier_key FROM log_key ORDER BY key_no;

-- SELECT_LOG_NODE: reading the log's tree
SELECT sha256 FROM log_node WHERE level = :level AND node_index = :node_index;

-- SELECT_PREDECESSOR: reading the log's predecessor
SELECT document FROM predecessor;

-- SELECT_STRAY_ROW: looking for stray rows
-- A row beside the one that a table may have. A check of the schema forbids it, but the
-- database's own look at its pages does not ask that of a primary key.
SELECT 'log' AS table_name, log_no FROM log WHERE log_no <> 1
UNION ALL
SELECT 'predecessor', log_no FROM predecessor WHERE log_no <> 1
LIMIT 1;
