//! Writes the address of a request.

use core::fmt::{self, Display, Write};

use super::{Operation, Parameter};

/// The address of one request: path and query, without scheme and host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    operation: Operation,
    text: String,
    path_bytes: usize,
}

impl Operation {
    /// The address of an operation without path parameters.
    pub fn target(self) -> Target {
        self.target_of("")
    }

    /// The address with `named` as its variable part: a pool, a hash, or a file of the log.
    pub fn target_of(self, named: impl Display) -> Target {
        let mut text = String::with_capacity(128);
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{named}{}", self.prefix(), self.suffix());
        Target { operation: self, path_bytes: text.len(), text }
    }
}

impl Target {
    /// Adds a query parameter.
    #[must_use]
    pub fn with(mut self, parameter: &Parameter, value: impl Display) -> Self {
        self.begin(parameter);
        // Writing to a string cannot fail.
        let _ = write!(UrlEncoder(&mut self.text), "{value}");
        self
    }

    /// Adds an optional query parameter.
    #[must_use]
    pub fn maybe(self, parameter: &Parameter, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(parameter, value),
            None => self,
        }
    }

    /// The address up to the position of a parameter's value.
    #[must_use]
    pub fn up_to(mut self, parameter: &Parameter) -> String {
        self.begin(parameter);
        self.text
    }

    fn begin(&mut self, parameter: &Parameter) {
        self.text.push(if self.text.len() == self.path_bytes { '?' } else { '&' });
        self.text.push_str(parameter.name);
        self.text.push('=');
    }

    /// The operation.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The whole target.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path only.
    pub fn path(&self) -> &str {
        &self.text[..self.path_bytes]
    }
}

/// Percent-encodes the text written to it.
struct UrlEncoder<'a>(&'a mut String);

impl Write for UrlEncoder<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend(form_urlencoded::byte_serialize(text.as_bytes()));
        Ok(())
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
