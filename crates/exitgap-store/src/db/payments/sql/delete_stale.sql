DELETE FROM payment WHERE state = 'claimed' AND claimed_s < :before_s;
