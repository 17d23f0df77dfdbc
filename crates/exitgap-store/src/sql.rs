//! The statements, each in a file of its own.

/// Settings of a connection that writes.
pub const CONNECTION: &str = include_str!("sql/connection.sql");
/// Tables and triggers.
pub const SCHEMA: &str = include_str!("sql/schema.sql");

pub const DELETE_DAYS: &str = include_str!("sql/delete_days.sql");
pub const DELETE_FIGURES: &str = include_str!("sql/delete_figures.sql");
pub const DELETE_STANDINGS: &str = include_str!("sql/delete_standings.sql");
pub const FOLD_WAL: &str = include_str!("sql/fold_wal.sql");
pub const INSERT_BODY: &str = include_str!("sql/insert_body.sql");
pub const INSERT_DAY: &str = include_str!("sql/insert_day.sql");
pub const INSERT_ENTRY: &str = include_str!("sql/insert_entry.sql");
pub const INSERT_FIGURES: &str = include_str!("sql/insert_figures.sql");
pub const INSERT_LOG: &str = include_str!("sql/insert_log.sql");
pub const INSERT_LOG_NODE: &str = include_str!("sql/insert_log_node.sql");
pub const INSERT_POOL: &str = include_str!("sql/insert_pool.sql");
pub const INSERT_PREDECESSOR: &str = include_str!("sql/insert_predecessor.sql");
pub const INSERT_RETRACTION: &str = include_str!("sql/insert_retraction.sql");
pub const INSERT_RETIREMENT: &str = include_str!("sql/insert_retirement.sql");
pub const INSERT_SEALED_SLOT: &str = include_str!("sql/insert_sealed_slot.sql");
pub const INSERT_STANDING: &str = include_str!("sql/insert_standing.sql");
pub const SELECT_BODY: &str = include_str!("sql/select_body.sql");
pub const SELECT_COUNTS: &str = include_str!("sql/select_counts.sql");
pub const SELECT_DAY: &str = include_str!("sql/select_day.sql");
pub const SELECT_DAY_ROW: &str = include_str!("sql/select_day_row.sql");
pub const SELECT_DERIVED_COUNTS: &str = include_str!("sql/select_derived_counts.sql");
pub const SELECT_DICTIONARY: &str = include_str!("sql/select_dictionary.sql");
pub const SELECT_ENTRIES: &str = include_str!("sql/select_entries.sql");
pub const SELECT_FIGURES: &str = include_str!("sql/select_figures.sql");
pub const SELECT_FIGURES_ROW: &str = include_str!("sql/select_figures_row.sql");
pub const SELECT_GAPS: &str = include_str!("sql/select_gaps.sql");
pub const SELECT_HEADS: &str = include_str!("sql/select_heads.sql");
pub const SELECT_LOG: &str = include_str!("sql/select_log.sql");
pub const SELECT_LOG_NODE: &str = include_str!("sql/select_log_node.sql");
pub const SELECT_NEWEST_ENTRY: &str = include_str!("sql/select_newest_entry.sql");
pub const SELECT_POINTS: &str = include_str!("sql/select_points.sql");
pub const SELECT_POOL: &str = include_str!("sql/select_pool.sql");
pub const SELECT_POOLS: &str = include_str!("sql/select_pools.sql");
pub const SELECT_PREDECESSOR: &str = include_str!("sql/select_predecessor.sql");
pub const SELECT_RETRACTIONS: &str = include_str!("sql/select_retractions.sql");
pub const SELECT_SCHEMA: &str = include_str!("sql/select_schema.sql");
pub const SELECT_SEALED_SLOT: &str = include_str!("sql/select_sealed_slot.sql");
pub const SELECT_SEALED_SLOTS: &str = include_str!("sql/select_sealed_slots.sql");
pub const SELECT_STANDING_ROW: &str = include_str!("sql/select_standing_row.sql");
pub const SELECT_STANDINGS: &str = include_str!("sql/select_standings.sql");
pub const SELECT_STRAY_ROW: &str = include_str!("sql/select_stray_row.sql");
pub const SELECT_TOTALS: &str = include_str!("sql/select_totals.sql");
pub const SELECT_WINDOW: &str = include_str!("sql/select_window.sql");
pub const UPDATE_DEFAULT_BASE: &str = include_str!("sql/update_default_base.sql");
pub const WAL_PAGES: &str = include_str!("sql/wal_pages.sql");
