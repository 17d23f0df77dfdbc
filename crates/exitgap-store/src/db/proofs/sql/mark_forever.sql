UPDATE proofs SET forever = 1 WHERE contract = :contract AND slot = :slot AND reach = :reach AND forever = 0
