//! The parameters of an address.

use core::fmt;

/// The parameters of an address.
#[derive(Default)]
pub(crate) struct Query(Vec<(&'static str, String)>);

impl Query {
    pub(crate) fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.push((name, value.to_string()));
        self
    }

    pub(crate) fn maybe(self, name: &'static str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With its question mark, or nothing.
    pub(crate) fn text(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let pairs = self.0.iter().map(|(name, value)| (name, value.as_str()));
        form_urlencoded::Serializer::for_suffix("?".to_owned(), 1).extend_pairs(pairs).finish()
    }
}
