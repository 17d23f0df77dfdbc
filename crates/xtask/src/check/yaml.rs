//! Reads the part of YAML that our files use: block mappings and sequences, flow sequences, empty flow mappings, and plain or
//! quoted texts on one line. Everything else is refused, so that a file means the same to every reader.

use serde_json::{Map, Value};

/// The document, or what is wrong, with its line.
pub fn read(text: &str) -> Result<Value, String> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.contains('\t') {
            return Err(format!("line {number}: a tab"));
        }
        let content = without_comment(line).trim_end();
        if !content.trim_start().is_empty() {
            let indent = content.len() - content.trim_start().len();
            lines.push(Line { number, indent, text: content.trim_start().to_owned() });
        }
    }
    let mut reader = Reader { lines, next: 0 };
    let value = reader.block(0)?;
    match reader.lines.get(reader.next) {
        None => Ok(value),
        Some(line) => Err(format!("line {}: unexpected indentation", line.number)),
    }
}

/// A line without what follows a `#` that begins a comment.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '#') if line[..at].is_empty() || line[..at].ends_with(' ') => {
                return &line[..at];
            }
            _ => {}
        }
    }
    line
}

struct Line {
    number: usize,
    indent: usize,
    text: String,
}

struct Reader {
    lines: Vec<Line>,
    next: usize,
}

impl Reader {
    /// The mapping, sequence or text of the lines with at least this indentation.
    fn block(&mut self, least: usize) -> Result<Value, String> {
        let Some(line) = self.lines.get(self.next).filter(|line| line.indent >= least) else {
            return Ok(Value::Null);
        };
        let indent = line.indent;
        if line.text.starts_with("- ") || line.text == "-" {
            return self.sequence(indent);
        }
        if split_key(&line.text).is_some() {
            return self.mapping(indent);
        }
        let value = scalar(&line.text).map_err(|why| format!("line {}: {why}", line.number))?;
        self.next += 1;
        Ok(value)
    }

    fn sequence(&mut self, indent: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        while let Some(line) = self.lines.get_mut(self.next).filter(|line| line.indent == indent) {
            let Some(rest) = line.text.strip_prefix('-') else {
                return Err(format!("line {}: not an item of the list above", line.number));
            };
            // The rest of the line begins a block that is indented as far as its text.
            let text = rest.trim_start().to_owned();
            let inner = indent + 1 + (rest.len() - text.len());
            if text.is_empty() {
                return Err(format!("line {}: an empty item", line.number));
            }
            (line.indent, line.text) = (inner, text);
            items.push(self.block(inner)?);
        }
        Ok(Value::Array(items))
    }

    fn mapping(&mut self, indent: usize) -> Result<Value, String> {
        let mut members = Map::new();
        while let Some(line) = self.lines.get(self.next).filter(|line| line.indent == indent) {
            let at = line.number;
            let (key, rest) = split_key(&line.text).ok_or(format!("line {at}: not a key"))?;
            let (key, rest) = (key.to_owned(), rest.to_owned());
            self.next += 1;
            let value = if rest.is_empty() {
                // A list may begin at the indentation of its key; our files indent it.
                self.block(indent + 1)?
            } else {
                scalar(&rest).map_err(|why| format!("line {at}: {why}"))?
            };
            if members.insert(key.clone(), value).is_some() {
                return Err(format!("line {at}: `{key}` a second time"));
            }
        }
        Ok(Value::Object(members))
    }
}

/// The key of a line, and the rest.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let is_key =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    (is_key && (rest.is_empty() || rest.starts_with(' '))).then(|| (key, rest.trim_start()))
}

/// A value on one line.
fn scalar(text: &str) -> Result<Value, String> {
    if text == "{}" {
        return Ok(Value::Object(Map::new()));
    }
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').ok_or("a list without its end")?;
        return split_items(inside)?.into_iter().map(scalar).collect();
    }
    if text.starts_with('"') {
        return serde_json::from_str(text).map_err(|_| format!("{text} is not a quoted text"));
    }
    if let Some(inside) = text.strip_prefix('\'') {
        let inside = inside.strip_suffix('\'').filter(|inside| !inside.contains('\''));
        return inside.map(Value::from).ok_or(format!("{text} is not a quoted text"));
    }
    if text.starts_with(['&', '*', '!', '|', '>', '@', '`', '%', '{']) || text.contains(": ") {
        return Err(format!("`{text}` is not a plain text: quote it"));
    }
    Ok(match text {
        "true" | "false" => Value::Bool(text == "true"),
        "null" | "~" => Value::Null,
        number => number.parse::<i64>().map_or_else(|_| Value::from(number), Value::from),
    })
}

/// The items of a flow sequence.
fn split_items(inside: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut begin, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                items.push(inside[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.push(inside[begin..].trim());
    if items.iter().any(|item| item.is_empty()) || quoted {
        return Err(format!("[{inside}] is not a list"));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_files_use_is_read() {
        let text = "# A file\nname: x # the name\nlist:\n  - one\n  - key: \"a: #b\"\n    other: [1, \"2, 3\", four]\n  - \
                    5m\nmap:\n  empty: {}\n  none:\n  deep:\n    yes_: true\n    url: http://a:9000/x\n";
        let expected = serde_json::json!({
            "name": "x",
            "list": ["one", {"key": "a: #b", "other": [1, "2, 3", "four"]}, "5m"],
            "map": {"empty": {}, "none": null, "deep": {"yes_": true, "url": "http://a:9000/x"}},
        });
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("").unwrap(), Value::Null);
    }

    #[test]
    fn what_other_readers_may_read_otherwise_is_refused_with_its_line() {
        for (text, why) in [
            ("a: 1\na: 2\n", "line 2: `a` a second time"),
            ("a:\n\tb: 1\n", "line 2: a tab"),
            ("a: b: c\n", "line 1: `b: c` is not a plain text"),
            ("a: |\n  text\n", "line 1: `|` is not a plain text"),
            ("a: &x 1\n", "line 1: `&x 1`"),
            ("a: \"b\n", "line 1: \"b is not a quoted text"),
            ("a: [1, 2\n", "line 1: a list without its end"),
            ("a: [1,, 2]\n", "line 1: [1,, 2] is not a list"),
            ("a: 1\n  b: 2\n", "line 2: unexpected indentation"),
            ("a:\n  - 1\n  b: 2\n", "line 3: not an item of the list above"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(why), "{text:?}: {found}");
        }
    }
}
