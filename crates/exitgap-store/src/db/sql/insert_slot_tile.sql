INSERT INTO slot_tile (slot, level, tile_index, hashes)
VALUES (:slot, :level, :tile_index, :hashes);
