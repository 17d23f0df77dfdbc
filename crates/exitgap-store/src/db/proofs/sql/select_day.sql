SELECT no FROM chain_days WHERE chain = :chain AND day = :day
