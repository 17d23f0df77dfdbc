UPDATE delivery SET state = 'delivered', said = NULL WHERE alert = :alert AND seq = :seq AND state = 'pending';
