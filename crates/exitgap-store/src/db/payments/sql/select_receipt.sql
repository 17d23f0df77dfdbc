SELECT signed FROM receipt WHERE key = :key;
