DELETE FROM payment WHERE key = :key;
