SELECT reserved_s, (SELECT count(*) FROM reservation AS earlier WHERE earlier.hash = :hash AND earlier.id < own.id) AS place
FROM reservation AS own WHERE hash = :hash AND fingerprint = :fingerprint;
