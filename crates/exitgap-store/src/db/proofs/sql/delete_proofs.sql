DELETE FROM proofs WHERE chain_day = :chain_day AND forever = 0 AND slot % :every <> 0
