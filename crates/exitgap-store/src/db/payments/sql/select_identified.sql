SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE identifier = :identifier AND state <> 'failed' ORDER BY claimed_s LIMIT 1;
