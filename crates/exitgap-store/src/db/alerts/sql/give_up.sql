UPDATE delivery SET state = 'given_up', said = :said WHERE alert = :alert AND seq = :seq AND state = 'pending';
