//! Converts statements to `PostgreSQL`'s form: named parameters become numbered ones.

use std::fmt::Write as _;

/// A statement with numbered parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct NumberedSql {
    pub sql: String,
    /// The names of the parameters, in order; empty if they have no names.
    pub names: Vec<&'static str>,
}

/// `SQLite`'s hint of which index to use.
const HINT: &str = " INDEXED BY ";

/// Replaces `:name` and `?` with numbers, and removes parts that only `SQLite` understands. Comments and quoted text stay
/// unchanged.
pub fn number_placeholders(sql: &'static str) -> NumberedSql {
    let (mut made, mut names, mut unnamed) = (String::with_capacity(sql.len()), Vec::new(), 0);
    let mut rest = sql;
    while let Some(at) = rest.find(['\'', ':', '?', '-']) {
        let (before, from) = rest.split_at(at);
        made.push_str(before);
        let taken = match from.as_bytes() {
            [b'\'', quoted @ ..] => {
                quoted.iter().position(|byte| *byte == b'\'').map_or(1, |end| end + 2)
            }
            [b'-', b'-', ..] => from.find('\n').unwrap_or(from.len()),
            [b':', b':', ..] => 2,
            [b':', name @ ..] => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let length = 1 + name.iter().take_while(|byte| is_name(byte)).count();
                let name = &from[..length];
                let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                let _ = write!(made, "${}", place + 1);
                rest = &from[length..];
                continue;
            }
            [b'?', ..] => {
                unnamed += 1;
                let _ = write!(made, "${unnamed}");
                rest = &from[1..];
                continue;
            }
            _ => 1,
        };
        made.push_str(&from[..taken]);
        rest = &from[taken..];
    }
    made.push_str(rest);
    // Index hints are only for SQLite.
    while let Some(at) = made.find(HINT) {
        let index = at + HINT.len();
        let end = made[index..].find(char::is_whitespace).map_or(made.len(), |end| index + end);
        made.replace_range(at..end, "");
    }
    NumberedSql { sql: made, names }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers_and_nothing_else_does() {
        let made = number_placeholders(
            "-- :a comment's ?\nSELECT a - 1, ':b', x::bigint FROM t WHERE a = :one AND b = :two_2 OR c = :one;",
        );
        assert_eq!(made.names, [":one", ":two_2"]);
        assert_eq!(
            made.sql,
            "-- :a comment's ?\nSELECT a - 1, ':b', x::bigint FROM t WHERE a = $1 AND b = $2 OR c = $1;"
        );
        let made = number_placeholders("INSERT INTO t (a, b) VALUES (?, ?);");
        assert_eq!(
            (made.sql.as_str(), made.names.len()),
            ("INSERT INTO t (a, b) VALUES ($1, $2);", 0)
        );
        let made =
            number_placeholders("SELECT 1 FROM t AS other INDEXED BY t_a\n    WHERE a = :a;");
        assert_eq!(made.sql, "SELECT 1 FROM t AS other\n    WHERE a = $1;");
        assert_eq!(number_placeholders("SELECT 'never ended").sql, "SELECT 'never ended");
    }
}
