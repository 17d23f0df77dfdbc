SELECT count(*) FROM left_day;
