SELECT amount, since_s FROM price ORDER BY id DESC LIMIT 64;
