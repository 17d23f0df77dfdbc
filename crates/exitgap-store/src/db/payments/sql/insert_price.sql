INSERT INTO price (amount, since_s) VALUES (:amount, :now_s);
