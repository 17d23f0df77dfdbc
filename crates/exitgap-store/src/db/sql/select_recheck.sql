SELECT next_slot FROM recheck WHERE chain = :chain;
