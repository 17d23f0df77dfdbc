//! The statements, each in a file of its own, with what it does in words.

/// A statement.
pub struct Statement {
    /// What it does: what an error of it begins with.
    pub doing: &'static str,
    pub sql: &'static str,
    /// The table that is said to be damaged where a column holds what cannot be in it; `None`: it
    /// is said that reading failed.
    pub table: Option<&'static str>,
}

impl Statement {
    const fn new(doing: &'static str, sql: &'static str) -> Self {
        Self { doing, sql, table: None }
    }

    /// One that finds rows of this table, which may be damaged while all else holds.
    const fn of(table: &'static str, doing: &'static str, sql: &'static str) -> Self {
        Self { doing, sql, table: Some(table) }
    }
}

/// Settings of a connection that writes.
pub const CONNECTION: &str = include_str!("sql/connection.sql");
/// Tables and triggers.
pub const SCHEMA: &str = include_str!("sql/schema.sql");
/// Every object of the schema.
pub const SELECT_SCHEMA: &str = include_str!("sql/select_schema.sql");
/// Folds the write-ahead log.
pub const FOLD_WAL: &str = include_str!("sql/fold_wal.sql");
/// Asks what the write-ahead log holds.
pub const WAL_PAGES: &str = include_str!("sql/wal_pages.sql");

pub static DELETE_DAYS: Statement =
    Statement::new("removing surplus rows", include_str!("sql/delete_days.sql"));
pub static DELETE_FIGURES: Statement =
    Statement::new("removing surplus rows", include_str!("sql/delete_figures.sql"));
pub static DELETE_STANDINGS: Statement =
    Statement::new("removing surplus rows", include_str!("sql/delete_standings.sql"));
pub static DELETE_SUSPICION: Statement =
    Statement::new("noting what was rechecked", include_str!("sql/delete_suspicion.sql"));
pub static INSERT_BODY: Statement =
    Statement::new("writing a body", include_str!("sql/insert_body.sql"));
pub static INSERT_DAY: Statement =
    Statement::new("writing a day", include_str!("sql/insert_day.sql"));
pub static INSERT_DOUBT: Statement =
    Statement::new("writing a doubt", include_str!("sql/insert_doubt.sql"));
pub static INSERT_ENTRY: Statement =
    Statement::new("writing an entry", include_str!("sql/insert_entry.sql"));
pub static INSERT_FIGURES: Statement =
    Statement::new("writing figures", include_str!("sql/insert_figures.sql"));
pub static INSERT_LOG: Statement =
    Statement::new("naming the log", include_str!("sql/insert_log.sql"));
pub static INSERT_LOG_KEY: Statement =
    Statement::new("naming a key", include_str!("sql/insert_log_key.sql"));
pub static INSERT_LOG_NODE: Statement =
    Statement::new("writing the log's tree", include_str!("sql/insert_log_node.sql"));
pub static INSERT_POOL: Statement =
    Statement::new("writing a pool", include_str!("sql/insert_pool.sql"));
pub static INSERT_PREDECESSOR: Statement =
    Statement::new("naming the log's predecessor", include_str!("sql/insert_predecessor.sql"));
pub static INSERT_RETIREMENT: Statement =
    Statement::new("writing a retirement", include_str!("sql/insert_retirement.sql"));
pub static INSERT_RETRACTION: Statement =
    Statement::new("writing a retraction", include_str!("sql/insert_retraction.sql"));
pub static INSERT_SEALED_SLOT: Statement =
    Statement::new("sealing a slot", include_str!("sql/insert_sealed_slot.sql"));
pub static INSERT_SLOT_TILE: Statement =
    Statement::new("writing a slot's tiles", include_str!("sql/insert_slot_tile.sql"));
pub static INSERT_STANDING: Statement =
    Statement::new("writing a standing", include_str!("sql/insert_standing.sql"));
pub static SELECT_BODY: Statement =
    Statement::new("reading a body", include_str!("sql/select_body.sql"));
pub static SELECT_BODY_BY_STATE: Statement =
    Statement::new("reading a state", include_str!("sql/select_body_by_state.sql"));
pub static SELECT_COUNTS: Statement =
    Statement::new("counting rows", include_str!("sql/select_counts.sql"));
pub static SELECT_DAY: Statement =
    Statement::of("day", "reading a day", include_str!("sql/select_day.sql"));
pub static SELECT_DAY_ROW: Statement =
    Statement::new("reading a day", include_str!("sql/select_day_row.sql"));
pub static SELECT_DERIVED_COUNTS: Statement =
    Statement::new("counting rows", include_str!("sql/select_derived_counts.sql"));
pub static SELECT_DICTIONARY: Statement =
    Statement::new("reading a body", include_str!("sql/select_dictionary.sql"));
pub static SELECT_DOUBT: Statement =
    Statement::new("reading a doubt", include_str!("sql/select_doubt.sql"));
pub static SELECT_DOUBTED: Statement =
    Statement::new("counting doubts", include_str!("sql/select_doubted.sql"));
pub static SELECT_ENTRIES: Statement =
    Statement::new("reading entries", include_str!("sql/select_entries.sql"));
pub static SELECT_FIGURES: Statement =
    Statement::of("figures", "reading figures", include_str!("sql/select_figures.sql"));
pub static SELECT_FIGURES_DIGEST: Statement =
    Statement::new("reading a day", include_str!("sql/select_figures_digest.sql"));
pub static SELECT_FIGURES_ROW: Statement =
    Statement::new("reading figures", include_str!("sql/select_figures_row.sql"));
pub static SELECT_FIGURES_ROWS: Statement =
    Statement::new("reading figures", include_str!("sql/select_figures_rows.sql"));
pub static SELECT_GAPS: Statement =
    Statement::of("figures", "reading gaps", include_str!("sql/select_gaps.sql"));
pub static SELECT_HEADS: Statement =
    Statement::new("reading heads", include_str!("sql/select_heads.sql"));
pub static SELECT_HEAD: Statement =
    Statement::new("reading a head", include_str!("sql/select_heads.sql"));
pub static SELECT_LOG: Statement =
    Statement::new("reading the log's name", include_str!("sql/select_log.sql"));
pub static SELECT_LOG_KEYS: Statement =
    Statement::new("reading the log's keys", include_str!("sql/select_log_keys.sql"));
pub static SELECT_LOG_NODE: Statement =
    Statement::new("reading the log's tree", include_str!("sql/select_log_node.sql"));
pub static SELECT_NEWEST_ENTRY: Statement =
    Statement::new("reading the newest entry", include_str!("sql/select_newest_entry.sql"));
pub static SELECT_PLACE: Statement =
    Statement::new("counting a slot's pools", include_str!("sql/select_place.sql"));
pub static SELECT_POINTS: Statement =
    Statement::new("reading entries", include_str!("sql/select_points.sql"));
pub static SELECT_POOL: Statement =
    Statement::new("reading a pool", include_str!("sql/select_pool.sql"));
pub static SELECT_POOLS: Statement =
    Statement::new("reading the pools", include_str!("sql/select_pools.sql"));
pub static SELECT_PREDECESSOR: Statement =
    Statement::new("reading the log's predecessor", include_str!("sql/select_predecessor.sql"));
pub static SELECT_RECHECK: Statement =
    Statement::new("reading how far slots were rechecked", include_str!("sql/select_recheck.sql"));
pub static SELECT_RETRACTIONS: Statement =
    Statement::of("retraction", "reading retractions", include_str!("sql/select_retractions.sql"));
pub static SELECT_SEALED_ROWS: Statement =
    Statement::new("reading heads and bodies", include_str!("sql/select_sealed_rows.sql"));
pub static SELECT_SEALED_SLOT: Statement =
    Statement::new("reading a sealed slot", include_str!("sql/select_sealed_slot.sql"));
pub static SELECT_SEALED_SLOTS: Statement =
    Statement::new("reading the store's slots", include_str!("sql/select_sealed_slots.sql"));
pub static SELECT_SLOT_TILE: Statement =
    Statement::new("reading a slot's tile", include_str!("sql/select_slot_tile.sql"));
pub static SELECT_STANDINGS: Statement =
    Statement::of("standing", "reading the board", include_str!("sql/select_standings.sql"));
pub static SELECT_STANDING_ROW: Statement =
    Statement::new("reading a standing", include_str!("sql/select_standing_row.sql"));
pub static SELECT_STRAY_ROW: Statement =
    Statement::new("looking for stray rows", include_str!("sql/select_stray_row.sql"));
pub static SELECT_SUSPICIONS: Statement =
    Statement::new("reading suspicions", include_str!("sql/select_suspicions.sql"));
pub static SELECT_TOTALS: Statement =
    Statement::new("summing up the store", include_str!("sql/select_totals.sql"));
pub static SELECT_WINDOW: Statement =
    Statement::new("reading depths", include_str!("sql/select_window.sql"));
pub static UPDATE_DEFAULT_BASE: Statement =
    Statement::new("setting a pool's default base", include_str!("sql/update_default_base.sql"));
pub static UPSERT_RECHECK: Statement =
    Statement::new("noting what was rechecked", include_str!("sql/upsert_recheck.sql"));
pub static UPSERT_SUSPICION: Statement =
    Statement::new("noting what was rechecked", include_str!("sql/upsert_suspicion.sql"));
