UPDATE alert SET ended = :why, ended_s = :now_s, changed = :changed
WHERE no = :alert AND ended IS NULL;
