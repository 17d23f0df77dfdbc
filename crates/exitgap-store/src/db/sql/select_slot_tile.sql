SELECT hashes FROM slot_tile
WHERE slot = :slot AND level = :level AND tile_index = :tile_index;
