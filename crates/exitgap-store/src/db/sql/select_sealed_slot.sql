SELECT pools, heads_root, checkpoint FROM sealed_slot WHERE slot = :slot;
