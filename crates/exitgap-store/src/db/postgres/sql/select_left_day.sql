SELECT bodies FROM left_day WHERE day = :day;
