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

/// Each by its file, in the folder `sql` beside whoever names it, by what it does and, where it can be damaged while all else holds, its table.
macro_rules! statements {
    ($($name:ident = $file:literal, $doing:literal $(, $table:literal)?;)*) => {$(
        pub static $name: $crate::db::statements::Statement = $crate::db::statements::Statement {
            doing: $doing,
            sql: include_str!(concat!("sql/", $file, ".sql")),
            table: {
                let tables: &[&str] = &[$($table)?];
                tables.first().copied()
            },
        };
    )*

    #[cfg(test)]
    pub const ALL: &[&$crate::db::statements::Statement] = &[$(&$name),*];
    };
}
pub(super) use statements;

statements! {
    DELETE_DAYS = "delete_days", "removing surplus rows";
    DELETE_FIGURES = "delete_figures", "removing surplus rows";
    DELETE_STANDINGS = "delete_standings", "removing surplus rows";
    DELETE_SUSPICION = "delete_suspicion", "noting what was rechecked";
    INSERT_BODY = "insert_body", "writing a body";
    INSERT_DAY = "insert_day", "writing a day";
    INSERT_COSIGNED = "insert_cosigned", "writing cosignatures";
    INSERT_COSIGNING = "insert_cosigning", "sealing a slot";
    INSERT_DOUBT = "insert_doubt", "writing a doubt";
    INSERT_ENTRY = "insert_entry", "writing an entry";
    INSERT_FIGURES = "insert_figures", "writing figures";
    INSERT_FILLS = "insert_fills", "writing fills";
    INSERT_ISSUED = "insert_issued", "writing issued estimates";
    INSERT_LOG = "insert_log", "naming the log";
    INSERT_LOG_KEY = "insert_log_key", "naming a key";
    INSERT_LOG_NODE = "insert_log_node", "writing the log's tree";
    INSERT_POOL = "insert_pool", "writing a pool";
    INSERT_PREDECESSOR = "insert_predecessor", "naming the log's predecessor";
    INSERT_RETIREMENT = "insert_retirement", "writing a retirement";
    INSERT_RETRACTION = "insert_retraction", "writing a retraction";
    INSERT_SEALED_SLOT = "insert_sealed_slot", "sealing a slot";
    INSERT_SLOT_TILE = "insert_slot_tile", "writing a slot's tiles";
    INSERT_STANDING = "insert_standing", "writing a standing";
    SELECT_BODY = "select_body", "reading a body";
    SELECT_BODY_BY_STATE = "select_body_by_state", "reading a state";
    SELECT_COUNTS = "select_counts", "counting rows";
    SELECT_COSIGNED = "select_cosigned", "reading cosignatures", "cosigned";
    SELECT_DAY = "select_day", "reading a day", "day";
    SELECT_DAY_ROW = "select_day_row", "reading a day";
    SELECT_DERIVED_COUNTS = "select_derived_counts", "counting rows";
    SELECT_DICTIONARY = "select_dictionary", "reading a body";
    SELECT_DOUBT = "select_doubt", "reading a doubt";
    SELECT_DOUBTED = "select_doubted", "counting doubts";
    SELECT_ENTRIES = "select_entries", "reading entries";
    SELECT_FIGURES = "select_figures", "reading figures", "figures";
    SELECT_FIGURES_DIGEST = "select_figures_digest", "reading a day";
    SELECT_FIGURES_ROW = "select_figures_row", "reading figures";
    SELECT_FIGURES_ROWS = "select_figures_rows", "reading figures";
    SELECT_FILLS = "select_fills", "reading fills", "fills";
    SELECT_FILLS_PLACE = "select_fills_place", "reading fills", "fills";
    SELECT_GAPS = "select_gaps", "reading gaps", "figures";
    SELECT_HEADS = "select_heads", "reading heads";
    SELECT_HEAD = "select_heads", "reading a head";
    SELECT_ISSUED = "select_issued", "reading issued estimates", "issued";
    SELECT_ISSUED_PLACE = "select_issued_place", "reading issued estimates";
    SELECT_LOG = "select_log", "reading the log's name";
    SELECT_LOG_KEYS = "select_log_keys", "reading the log's keys";
    SELECT_LOG_NODE = "select_log_node", "reading the log's tree";
    SELECT_NEWEST_ENTRY = "select_newest_entry", "reading the newest entry";
    SELECT_NEXT_NUMBERS = "select_next_numbers", "numbering what is new";
    SELECT_PLACE = "select_place", "counting a slot's pools";
    SELECT_POINTS = "select_points", "reading entries";
    SELECT_POOL = "select_pool", "reading a pool";
    SELECT_POOLS = "select_pools", "reading the pools";
    SELECT_PREDECESSOR = "select_predecessor", "reading the log's predecessor";
    SELECT_RECHECK = "select_recheck", "reading how far slots were rechecked";
    SELECT_RETRACTIONS = "select_retractions", "reading retractions", "retraction";
    SELECT_SEALED_ROWS = "select_sealed_rows", "reading heads and bodies";
    SELECT_SEALED_SLOT = "select_sealed_slot", "reading a sealed slot";
    SELECT_SEALED_SLOTS = "select_sealed_slots", "reading the store's slots";
    SELECT_SLOT_TILE = "select_slot_tile", "reading a slot's tile";
    SELECT_STANDINGS = "select_standings", "reading the board", "standing";
    SELECT_STANDING_ROW = "select_standing_row", "reading a standing";
    SELECT_STRAY_ROW = "select_stray_row", "looking for stray rows";
    SELECT_SUSPICIONS = "select_suspicions", "reading suspicions";
    SELECT_TOTALS = "select_totals", "summing up the store";
    SELECT_WINDOW = "select_window", "reading depths";
    UPDATE_DEFAULT_BASE = "update_default_base", "setting a pool's default base";
    UPSERT_RECHECK = "upsert_recheck", "noting what was rechecked";
    UPSERT_SUSPICION = "upsert_suspicion", "noting what was rechecked";
}
