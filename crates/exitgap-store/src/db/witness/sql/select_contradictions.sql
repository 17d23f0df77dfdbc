SELECT cosigned, other FROM contradiction WHERE origin = :origin ORDER BY size, other_root LIMIT :most;
