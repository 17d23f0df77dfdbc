UPDATE alert SET expires_s = :until_s WHERE token = :token AND ended IS NULL AND expires_s < :until_s;
