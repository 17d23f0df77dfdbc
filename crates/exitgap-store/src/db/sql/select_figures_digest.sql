SELECT figures_sha256 FROM day WHERE day = :day AND pool_no = :pool_no;
