SELECT count(*) AS number FROM proofs
