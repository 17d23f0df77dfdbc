DELETE FROM payment WHERE key = :key AND claim = :claim AND state = 'claimed';
