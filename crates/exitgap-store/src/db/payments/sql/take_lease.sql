INSERT INTO lease (work, holder, until_s) VALUES (:work, :holder, :until_s)
ON CONFLICT (work) DO UPDATE SET holder = :holder, until_s = :until_s
WHERE lease.holder = :holder OR lease.until_s <= :now_s;
