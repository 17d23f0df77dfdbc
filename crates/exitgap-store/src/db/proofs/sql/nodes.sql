-- DELETE_NODE
DELETE FROM nodes WHERE no = :no

-- INSERT_NODE
INSERT INTO nodes (chain_day, hash, bytes) VALUES (:chain_day, :hash, :bytes) RETURNING no

-- SELECT_BYTES
SELECT bytes FROM nodes WHERE no = :no

-- SELECT_NODE
SELECT no FROM nodes WHERE chain_day = :chain_day AND hash = :hash

-- SELECT_NODES
SELECT no FROM nodes WHERE chain_day = :chain_day

-- SUM_BYTES
SELECT (SELECT coalesce(sum(length(bytes)), 0) FROM nodes) + (SELECT coalesce(sum(length(body)), 0) FROM proofs) AS number
