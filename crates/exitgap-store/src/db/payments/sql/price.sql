-- INSERT_PRICE: writing a price
INSERT INTO price (id, amount, since_s)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM price), :amount, :now_s);

-- SELECT_PRICES: reading prices
SELECT amount, since_s FROM price ORDER BY id DESC LIMIT 64;
