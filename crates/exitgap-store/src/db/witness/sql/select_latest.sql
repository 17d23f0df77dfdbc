SELECT checkpoint FROM state WHERE origin_sha256 = :origin_sha256;
