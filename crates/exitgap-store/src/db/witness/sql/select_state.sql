SELECT size, root, checkpoint FROM state WHERE origin = :origin;
