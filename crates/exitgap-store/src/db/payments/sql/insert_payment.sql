INSERT INTO payment (key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s,
    since_block, state, claim, answer, answer_sha256, resource_url, settled_by, block, block_hash, claimed_s, settled_s)
VALUES (:key, :fingerprint, :family, :signed, :payer, :amount, :identifier, :authorization, :valid_before_s,
    :since_block, :state, :claim, :answer, :answer_sha256, :resource_url, :settled_by, :block, :block_hash, :claimed_s,
    :settled_s);
