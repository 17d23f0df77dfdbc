INSERT INTO lease (work, holder, until_s) VALUES (:work, :holder, :until_s)
ON CONFLICT (work) DO UPDATE SET holder = :holder, until_s = :until_s WHERE holder = :holder OR until_s <= :now_s;
