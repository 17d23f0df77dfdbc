INSERT OR REPLACE INTO day (
    day, pool_no, recorded_slots, missing_slots, retracted_slots, last_at,
    lowest0_usd, lowest0_at,
    last0_1k, worst0_1k, worst0_1k_at,
    refused0_1k_slots, least0_1k_micros, least0_1k_at,
    last0_10k, worst0_10k, worst0_10k_at,
    refused0_10k_slots, least0_10k_micros, least0_10k_at,
    last0_100k, worst0_100k, worst0_100k_at,
    refused0_100k_slots, least0_100k_micros, least0_100k_at,
    last0_1m, worst0_1m, worst0_1m_at,
    refused0_1m_slots, least0_1m_micros, least0_1m_at,
    lowest1_usd, lowest1_at,
    last1_1k, worst1_1k, worst1_1k_at,
    refused1_1k_slots, least1_1k_micros, least1_1k_at,
    last1_10k, worst1_10k, worst1_10k_at,
    refused1_10k_slots, least1_10k_micros, least1_10k_at,
    last1_100k, worst1_100k, worst1_100k_at,
    refused1_100k_slots, least1_100k_micros, least1_100k_at,
    last1_1m, worst1_1m, worst1_1m_at,
    refused1_1m_slots, least1_1m_micros, least1_1m_at,
    figures_sha256
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?
);
