SELECT sha256 FROM log_node WHERE level = :level AND node_index = :node_index;
