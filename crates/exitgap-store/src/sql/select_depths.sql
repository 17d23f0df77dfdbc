SELECT depth0_usd, depth1_usd FROM entry WHERE pool_no = :pool_no AND slot = :slot;
