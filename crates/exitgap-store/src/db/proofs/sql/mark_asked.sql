UPDATE proofs SET asked = 1 WHERE contract = :contract AND slot = :slot
