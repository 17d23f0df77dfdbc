UPDATE alert SET ended = 'expired', ended_s = :now_s, changed = :changed
WHERE ended IS NULL AND expires_s <= :now_s;
