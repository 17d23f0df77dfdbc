//! Parses untrusted JSON in one pass, up to a maximum depth.

use std::borrow::Cow;

use super::Json;

/// The maximum nesting depth, far above that of any document of exitgap.
const MAX_DEPTH: u32 = 128;

/// The maximum number of values in a document, twice as many as two snapshots with the maximum number of ticks have. A
/// value of two bytes needs thirty bytes in memory, and more while its list grows.
const MAX_VALUES: u32 = 1 << 20;

/// The maximum number of fields of an object.
pub(super) const MAX_FIELDS: usize = 64;

/// Parses a whole document. The error states what was expected and where.
pub fn parse_json(bytes: &[u8]) -> Result<Json<'_>, String> {
    let text = core::str::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 from byte {}", error.valid_up_to()))?;
    let mut reader = Reader { text, at: 0, values: 0 };
    let json = reader.value(0)?;
    match reader.peek() {
        None => Ok(json),
        Some(_) => Err(reader.wrong("trailing characters")),
    }
}

/// The parser. The remaining text begins at byte `at`, and `values` is the number of values begun so far.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    values: u32,
}

impl<'a> Reader<'a> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.here()
    }

    /// The next byte.
    fn here(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips the bytes that `fits` accepts and returns their number.
    fn skip(&mut self, fits: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.here().is_some_and(&fits) {
            self.at += 1;
        }
        self.at - start
    }

    fn wrong(&self, what: &str) -> String {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |line_break| line_break + 1);
        let line = before.matches('\n').count() + 1;
        let column = self.at - line_start + usize::from(self.at < self.text.len());
        format!("{what} at line {line} column {column}")
    }

    /// The error if there is something else or nothing.
    fn describe_unexpected(&mut self, what: &str, within: &str) -> String {
        match self.peek() {
            None => self.wrong(&format!("EOF while parsing {within}")),
            Some(_) => self.wrong(&format!("expected {what}")),
        }
    }

    fn value(&mut self, depth: u32) -> Result<Json<'a>, String> {
        if depth == MAX_DEPTH {
            return Err(self.wrong("recursion limit exceeded"));
        }
        if self.values == MAX_VALUES {
            return Err(self.wrong("too many values"));
        }
        self.values += 1;
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.parse_string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, json) in
                    [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
                {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(json);
                    }
                }
                Err(self.describe_unexpected("value", "a value"))
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Json<'a>, String> {
        let mut fields = Vec::new();
        self.at += 1;
        if self.ends(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            if fields.len() == MAX_FIELDS {
                return Err(self.wrong("too many fields"));
            }
            if self.peek() != Some(b'"') {
                return Err(self.describe_unexpected("a key", "an object"));
            }
            let key = self.parse_string()?;
            if !self.ends(b':') {
                return Err(self.describe_unexpected("`:`", "an object"));
            }
            fields.push((key, self.value(depth + 1)?));
            if self.ends(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.ends(b',') {
                return Err(self.describe_unexpected("`,` or `}`", "an object"));
            }
        }
    }

    fn list(&mut self, depth: u32) -> Result<Json<'a>, String> {
        let mut items = Vec::new();
        self.at += 1;
        if self.ends(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.ends(b']') {
                return Ok(Json::List(items));
            }
            if !self.ends(b',') {
                return Err(self.describe_unexpected("`,` or `]`", "a list"));
            }
        }
    }

    /// Consumes `byte` if it is the next one and returns whether it was.
    fn ends(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn number(&mut self) -> Result<Json<'a>, String> {
        let start = self.at;
        self.at += usize::from(self.here() == Some(b'-'));
        let whole = self.digits();
        let leading_zero = whole > 1 && self.text.as_bytes()[self.at - whole] == b'0';
        let mut complete = whole > 0 && !leading_zero;
        if self.here() == Some(b'.') {
            self.at += 1;
            complete &= self.digits() > 0;
        }
        if matches!(self.here(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.here(), Some(b'+' | b'-')));
            complete &= self.digits() > 0;
        }
        if complete {
            Ok(Json::Number(Cow::Borrowed(&self.text[start..self.at])))
        } else {
            Err(self.wrong("invalid number"))
        }
    }

    fn digits(&mut self) -> usize {
        self.skip(|byte| byte.is_ascii_digit())
    }

    fn parse_string(&mut self) -> Result<Cow<'a, str>, String> {
        self.at += 1;
        let mut owned = String::new();
        loop {
            let start = self.at;
            self.skip(|byte| !matches!(byte, b'"' | b'\\' | 0..b' '));
            let plain = &self.text[start..self.at];
            match self.here() {
                Some(b'"') => {
                    self.at += 1;
                    if owned.is_empty() {
                        return Ok(Cow::Borrowed(plain));
                    }
                    owned.push_str(plain);
                    return Ok(Cow::Owned(owned));
                }
                Some(b'\\') => {
                    owned.push_str(plain);
                    self.at += 1;
                    owned.push(self.parse_escape()?);
                }
                Some(_) => return Err(self.wrong("control character in a string")),
                None => return Err(self.wrong("EOF while parsing a string")),
            }
        }
    }

    /// Parses an escape after its backslash and returns its character.
    fn parse_escape(&mut self) -> Result<char, String> {
        let c = match self.text.as_bytes().get(self.at) {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.wrong("invalid escape")),
        };
        self.at += 1;
        Ok(c)
    }

    /// Parses one escape of four hex digits, or two for a surrogate pair.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.unit()?;
        let mut units = [first, 0];
        let mut count = 1;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            units[1] = self.unit()?;
            count = 2;
        }
        let mut decoded = char::decode_utf16(units[..count].iter().copied());
        match (decoded.next(), decoded.next()) {
            (Some(Ok(c)), None) => Ok(c),
            _ => Err(self.wrong("lone surrogate in a string")),
        }
    }

    fn unit(&mut self) -> Result<u16, String> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| core::str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.wrong("invalid escape"))?;
        self.at += 5;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_no_json_is_refused_and_said_where() {
        for (text, said) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{\"head\":", "EOF while parsing a value at line 1 column 8"),
            ("{\"a\"", "EOF while parsing an object"),
            ("[1", "EOF while parsing a list"),
            ("\"a", "EOF while parsing a string"),
            ("{a", "expected a key at line 1 column 2"),
            ("{\"a\":1,}", "expected a key"),
            ("[1,]", "expected value"),
            ("[\n1 2]", "expected `,` or `]` at line 2 column 3"),
            ("{\"a\" 1}", "expected `:`"),
            ("tru", "expected value"),
            ("1 1", "trailing characters"),
            ("01", "invalid number"),
            ("-", "invalid number"),
            ("1.", "invalid number"),
            ("1e", "invalid number"),
            ("\"\\x\"", "invalid escape"),
            ("\"\\u12g4\"", "invalid escape"),
            ("\"\\ud800\"", "lone surrogate"),
            ("\"\\udc00\\ud800\"", "lone surrogate"),
            ("\"\\ud800\\u0041\"", "lone surrogate"),
            ("\"\n\"", "control character"),
        ] {
            let error = parse_json(text.as_bytes()).unwrap_err();
            assert!(error.contains(said), "{text:?}: {error}");
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text:?}");
        }
        assert_eq!(parse_json(b"\"\xff\"").unwrap_err(), "not UTF-8 from byte 1");
    }

    #[test]
    #[cfg_attr(
        target_os = "wasi",
        ignore = "Node.js 20 crashes at its end once a program had so many values"
    )]
    fn values_are_limited() {
        let list = |values: u32| format!("[{}0]", "0,".repeat(values as usize - 2));
        assert!(parse_json(list(MAX_VALUES).as_bytes()).is_ok());
        assert!(
            parse_json(list(MAX_VALUES + 1).as_bytes()).unwrap_err().starts_with("too many values")
        );
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse_json(nested(128).as_bytes()).is_ok());
        assert!(parse_json(nested(129).as_bytes()).unwrap_err().starts_with("recursion limit"));
        assert!(parse_json("[".repeat(1 << 20).as_bytes()).is_err());
    }

    proptest::proptest! {
        /// The parser accepts exactly what a general JSON parser accepts.
        #[test]
        fn it_accepts_what_others_accept(text in r#"[\[\]{}",:0-9a-u\\ .eE+\-]{0,24}"#) {
            let theirs = serde_json::from_str::<Value>(&text).is_ok();
            let ours = parse_json(text.as_bytes());
            // Numbers beyond the range of a float are still valid JSON.
            let large = text.contains(['e', 'E']);
            proptest::prop_assert!(ours.is_ok() == theirs || (large && ours.is_ok()), "{:?}", ours);
        }
    }
}
