UPDATE payment SET state = 'orphaned' WHERE key = :key AND state = 'settled';
