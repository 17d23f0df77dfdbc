INSERT INTO sealed_slot (slot, pools) VALUES (:slot, :pools);
