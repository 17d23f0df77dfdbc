SELECT (SELECT coalesce(sum(length(bytes)), 0) FROM nodes) + (SELECT coalesce(sum(length(body)), 0) FROM proofs) AS number
