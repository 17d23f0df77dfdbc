//! Rust source with everything that is not code blanked out, line for line.

/// Replaces comments, strings and character literals by spaces; line breaks stay where they are.
pub fn code_only(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        let end = skip(&characters, at);
        if end == at {
            code.push(characters[at]);
            at += 1;
        } else {
            code.extend(
                characters[at..end].iter().map(|&one| if one == '\n' { '\n' } else { ' ' }),
            );
            at = end;
        }
    }
    code
}

/// Where the comment or literal that begins at `at` ends; `at` itself when none begins there.
fn skip(characters: &[char], at: usize) -> usize {
    let here = |offset: usize| characters.get(at + offset).copied();
    let after_word = at > 0 && is_word(characters[at - 1]);
    match (here(0), here(1)) {
        (Some('/'), Some('/')) => {
            position(characters, at, |rest| rest[0] == '\n').unwrap_or(characters.len())
        }
        (Some('/'), Some('*')) => end_of_block_comment(characters, at),
        (Some('"'), _) => end_of_quoted(characters, at, '"'),
        (Some('r'), Some('"' | '#')) if !after_word => end_of_raw(characters, at, 1),
        (Some('b' | 'c'), Some('r')) if !after_word => end_of_raw(characters, at, 2),
        (Some('\''), Some(next)) => {
            // A lifetime has no closing quote two characters on.
            let is_literal = next == '\\' || here(2) == Some('\'');
            if is_literal { end_of_quoted(characters, at, '\'') } else { at }
        }
        _ => at,
    }
}

fn position(characters: &[char], from: usize, found: impl Fn(&[char]) -> bool) -> Option<usize> {
    (from..characters.len()).find(|&at| found(&characters[at..]))
}

fn end_of_block_comment(characters: &[char], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = from;
    while at < characters.len() {
        match (characters[at], characters.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    characters.len()
}

fn end_of_quoted(characters: &[char], from: usize, quote: char) -> usize {
    let mut at = from + 1;
    while at < characters.len() {
        match characters[at] {
            '\\' => at += 2,
            one if one == quote => return at + 1,
            _ => at += 1,
        }
    }
    characters.len()
}

/// `r"…"`, `r#"…"#` and their kin; `prefix` letters stand before the hashes.
fn end_of_raw(characters: &[char], from: usize, prefix: usize) -> usize {
    let hashes = characters[from + prefix..].iter().take_while(|&&one| one == '#').count();
    let open = from + prefix + hashes;
    if characters.get(open) != Some(&'"') {
        // A raw identifier such as `r#type`.
        return from;
    }
    let closes = |rest: &[char]| {
        rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|&one| one == '#')
    };
    position(characters, open + 1, closes).map_or(characters.len(), |end| end + 1 + hashes)
}

/// Whether a character can be part of a name or a number.
pub fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (text, kept) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x\"y", 'c', '\'')"#, r"f(      ,    ,     )"),
            (r##"f(r#"a"b"#, br"c")"##, "f(        ,      )"),
            ("fn x<'a>(y: &'a str)", "fn x<'a>(y: &'a str)"),
            ("let r#type = attr\"x\";", "let r#type = attr   ;"),
        ] {
            assert_eq!(code_only(text), kept, "{text}");
        }
    }

    #[test]
    fn an_unfinished_literal_ends_with_the_file() {
        for text in ["\"abc", "/* abc", "r#\"abc\"", "'\\"] {
            assert_eq!(code_only(text).trim(), "", "{text}");
        }
    }
}
