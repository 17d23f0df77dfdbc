SELECT no, day, thinned FROM chain_days WHERE thinned < 2 AND day < :before ORDER BY day
