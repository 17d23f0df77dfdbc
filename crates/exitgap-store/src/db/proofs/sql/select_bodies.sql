SELECT body FROM proofs WHERE chain_day = :chain_day
