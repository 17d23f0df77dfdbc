//! The statements, with names given in the files of the folder `sql`, and a description of each.

/// A statement.
pub struct Statement {
    /// A description of what it does, which begins its error messages.
    pub doing: &'static str,
    pub sql: &'static str,
    /// The table that counts as damaged if a column has an impossible value; `None` if the error should only say that
    /// reading failed.
    pub table: Option<&'static str>,
}

/// Finds a statement in a file, which has the statements on a table and on those that belong to it. Each begins with a
/// line such as `-- SELECT_DAY (day): reading a day`: its name, the table that is damaged if a column has an impossible
/// value (omitted if that is determined elsewhere), and a description.
pub const fn find(file: &'static str, name: &str) -> Statement {
    let mut rest = file;
    loop {
        let (line, body) = cut(rest, b"\n");
        let (body, next) = cut(body, b"\n\n-- ");
        let (_, head) = line.split_at(if has_at(line.as_bytes(), 0, b"-- ") { 3 } else { 0 });
        let (named, doing) = cut(head, b": ");
        let (found, table) = cut(named, b" (");
        if is_same(found, name) {
            let table = if table.is_empty() { None } else { Some(cut(table, b")").0) };
            return Statement { doing, sql: body, table };
        }
        assert!(!next.is_empty(), "the file has no statement of this name");
        rest = next;
    }
}

/// The text before and after the first occurrence of a mark; nothing after it if there is none.
const fn cut(text: &'static str, mark: &[u8]) -> (&'static str, &'static str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + mark.len() <= bytes.len() {
        if bytes[at] == mark[0] && has_at(bytes, at, mark) {
            let (before, after) = text.split_at(at);
            return (before, after.split_at(mark.len()).1);
        }
        at += 1;
    }
    (text, "")
}

const fn has_at(bytes: &[u8], at: usize, mark: &[u8]) -> bool {
    let mut index = 0;
    while index < mark.len() {
        if at + index >= bytes.len() || bytes[at + index] != mark[index] {
            return false;
        }
        index += 1;
    }
    true
}

const fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && has_at(one.as_bytes(), 0, other.as_bytes())
}

/// Requires that a folder has exactly these files, and that all their statements are used.
#[cfg(test)]
pub fn every_statement_is_used(
    folder: &std::path::Path,
    files: &[(&str, &[&str])],
    batches: &[&str],
) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "sql") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Some((_, used)) = files.iter().find(|(file, _)| *file == name) else {
            assert!(batches.contains(&text.as_str()), "{} is not used", path.display());
            continue;
        };
        let heads = text.split("\n\n").filter_map(|part| part.strip_prefix("-- "));
        let names: Vec<&str> = heads.filter_map(|head| head.split([' ', ':']).next()).collect();
        assert_eq!(names, *used, "{}", path.display());
    }
}

/// Defines a static for each name: the statement with that name in a file of the folder `sql` next to the caller.
macro_rules! statements {
    ($($file:literal: $($name:ident),*;)*) => {
        $($(
            pub static $name: $crate::db::statements::Statement = $crate::db::statements::find(
                include_str!(concat!("sql/", $file, ".sql")),
                stringify!($name),
            );
        )*)*

        #[cfg(test)]
        pub const ALL: &[&$crate::db::statements::Statement] = &[$($(&$name),*),*];

        /// The files, each with the names of its statements that are used.
        #[cfg(test)]
        pub const FILES: &[(&str, &[&str])] = &[$(($file, &[$(stringify!($name)),*])),*];
    };
}
pub(super) use statements;

statements! {
    "body": INSERT_BODY, SELECT_BODY, SELECT_BODY_BY_STATE, SELECT_COUNTS, SELECT_DICTIONARY, SELECT_NEXT_NUMBERS, SELECT_TOTALS;
    "entry": INSERT_ENTRY, INSERT_POOL, INSERT_RETIREMENT, INSERT_RETRACTION, SELECT_ENTRIES, SELECT_HEADS, SELECT_NEWEST_ENTRY, SELECT_PLACE, SELECT_POINTS, SELECT_POOL, SELECT_POOLS, SELECT_RETRACTIONS, SELECT_SEALED_ROWS, SELECT_WINDOW, UPDATE_DEFAULT_BASE;
    "figures": DELETE_DAYS, DELETE_FIGURES, DELETE_STANDINGS, DELETE_WEEKS, INSERT_DAY, INSERT_FIGURES, INSERT_STANDING, INSERT_WEEK, SELECT_DAY, SELECT_DAY_ROW, SELECT_DERIVED_COUNTS, SELECT_FIGURES, SELECT_FIGURES_DIGEST, SELECT_FIGURES_ROW, SELECT_FIGURES_ROWS, SELECT_GAPS, SELECT_STANDINGS, SELECT_STANDING_ROW, SELECT_WEEK_ROW;
    "fills": INSERT_FILLS, INSERT_ISSUED, SELECT_FILLS, SELECT_FILLS_PLACE, SELECT_ISSUED, SELECT_ISSUED_PLACE;
    "log": DELETE_SUSPICION, INSERT_COSIGNED, INSERT_COSIGNING, INSERT_DOUBT, INSERT_LOG, INSERT_LOG_KEY, INSERT_LOG_NODE, INSERT_PREDECESSOR, INSERT_SEALED_SLOT, INSERT_SLOT_TILE, SELECT_COSIGNED, SELECT_DOUBT, SELECT_DOUBTED, SELECT_LOG, SELECT_LOG_KEYS, SELECT_LOG_NODE, SELECT_PREDECESSOR, SELECT_RECHECK, SELECT_SEALED_SLOT, SELECT_SEALED_SLOTS, SELECT_SLOT_TILE, SELECT_STRAY_ROW, SELECT_SUSPICIONS, UPSERT_RECHECK, UPSERT_SUSPICION;
}
