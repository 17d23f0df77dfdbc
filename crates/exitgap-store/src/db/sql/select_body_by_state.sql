SELECT snapshot_sha256 FROM body WHERE state_sha256 = :state_sha256 ORDER BY body_no LIMIT 1;
