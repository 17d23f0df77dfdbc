SELECT no FROM nodes WHERE chain_day = :chain_day
