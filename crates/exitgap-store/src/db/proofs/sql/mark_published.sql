UPDATE proofs SET published = 1 WHERE contract = :contract AND slot = :slot AND reach = :reach
