DELETE FROM reservation WHERE reserved_s < :before_s
    OR id <= (SELECT max(id) FROM reservation) - :most;
