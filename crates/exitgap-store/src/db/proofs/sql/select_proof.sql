SELECT body, forever FROM proofs WHERE contract = :contract AND slot = :slot AND reach = :reach
