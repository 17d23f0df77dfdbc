-- One gap of a run of slots, and the basis: four sizes selling token 0, then four selling token 1.
SELECT slot,
    CASE :gap
        WHEN 0 THEN gap0_1k WHEN 1 THEN gap0_10k WHEN 2 THEN gap0_100k WHEN 3 THEN gap0_1m
        WHEN 4 THEN gap1_1k WHEN 5 THEN gap1_10k WHEN 6 THEN gap1_100k ELSE gap1_1m
    END,
    CASE WHEN :gap < 4 THEN basis0 ELSE basis1 END
FROM figures
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;
