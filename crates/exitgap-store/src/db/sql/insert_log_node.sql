INSERT INTO log_node (level, node_index, sha256) VALUES (:level, :node_index, :sha256);
