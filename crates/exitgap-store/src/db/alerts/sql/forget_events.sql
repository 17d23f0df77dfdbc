DELETE FROM event WHERE made_s < :before_s;
