DELETE FROM alert WHERE ended_s < :before_s;
