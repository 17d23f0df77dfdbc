UPDATE payment SET state = 'settling' WHERE key = :key AND claim = :claim AND state = 'claimed';
