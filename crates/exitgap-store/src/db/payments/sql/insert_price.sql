INSERT INTO price (id, amount, since_s)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM price), :amount, :now_s);
