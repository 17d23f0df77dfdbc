UPDATE chain_days SET thinned = :thinned WHERE no = :chain_day
