UPDATE payment SET rechecked = 1 WHERE key = :key;
