DELETE FROM challenged WHERE at_ms < :before_ms;
