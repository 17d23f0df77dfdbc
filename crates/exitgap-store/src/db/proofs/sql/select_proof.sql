SELECT body, asked FROM proofs WHERE contract = :contract AND slot = :slot
