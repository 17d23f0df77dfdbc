SELECT line FROM predecessor WHERE log_no = 1;
