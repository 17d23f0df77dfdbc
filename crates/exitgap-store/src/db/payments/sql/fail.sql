UPDATE payment SET state = 'failed' WHERE key = :key AND state = 'settling';
