INSERT INTO sealed_slot (slot, pools, heads_root, checkpoint)
VALUES (:slot, :pools, :heads_root, :checkpoint);
