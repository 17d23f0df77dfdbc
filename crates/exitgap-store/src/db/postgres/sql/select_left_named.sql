SELECT count(*) FROM left_body;
