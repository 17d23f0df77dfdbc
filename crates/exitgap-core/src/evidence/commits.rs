//! Further documents that heads and leaves commit to.

use crate::ids::{Code, DocumentHash};
use crate::json::{Fields, Json, Wire};

/// Documents by name, each with its SHA-256. A document is stored with the slot's parts or published separately. A
/// verifier lists names that it does not know and draws no conclusion from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits(Vec<(Code, DocumentHash)>);

impl Commits {
    /// The name under which a head commits to the logs of its pool's contract.
    pub const FILLS: &str = "fills";
    /// The name under which a head commits to the receipts of paid estimates.
    pub const ISSUED: &str = "issued";
    /// The maximum number of names in one head or leaf.
    pub const MAX: usize = 16;

    /// A single commitment.
    pub fn to(name: Code, document: DocumentHash) -> Self {
        Self(vec![(name, document)])
    }

    /// These commitments and `others`, which must have different names.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self.0.sort_by_key(|(name, _)| *name);
        self
    }

    /// The commitments, ascending by name.
    pub fn iter(&self) -> impl Iterator<Item = &(Code, DocumentHash)> {
        self.0.iter()
    }

    /// The document's hash under a name.
    pub fn get(&self, name: &str) -> Option<DocumentHash> {
        self.0.iter().find(|(code, _)| code.as_str() == name).map(|(_, document)| *document)
    }

    /// Whether there are no commitments.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Wire for Commits {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let Json::Object(fields) = json else {
            // This reports an error that names the expected type.
            return Fields::from_json(json).map(|_| Self::default());
        };
        if fields.len() > Self::MAX {
            return Err(format!(
                "{} commitments are more than the maximum of {}",
                fields.len(),
                Self::MAX
            ));
        }
        let read = |(name, document): &(_, Json<'_>)| {
            let name: &str = std::borrow::Borrow::<str>::borrow(name);
            let name: Code = name.parse().map_err(|error| format!("{error}"))?;
            Ok((name, DocumentHash::from_json(document)?))
        };
        let commits = fields.iter().map(read).collect::<Result<Vec<_>, String>>()?;
        if commits.is_sorted_by(|a, b| a.0 < b.0) {
            Ok(Self(commits))
        } else {
            Err("commitments out of order".to_owned())
        }
    }

    fn to_json(&self) -> Json<'_> {
        let fields =
            self.0.iter().map(|(name, document)| (name.as_str().into(), document.to_json()));
        Json::Object(fields.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_json;

    #[test]
    fn sixteen_commitments_are_read_and_no_more() {
        let of = |count: usize| {
            let hash = DocumentHash([7; 32]);
            let fields: Vec<_> =
                (0..count).map(|n| format!("\"name_{n:02}\":\"{hash}\"")).collect();
            Commits::from_json(&parse_json(format!("{{{}}}", fields.join(",")).as_bytes()).unwrap())
        };
        assert_eq!(of(Commits::MAX).unwrap().iter().count(), Commits::MAX);
        assert_eq!(
            of(Commits::MAX + 1).unwrap_err(),
            "17 commitments are more than the maximum of 16"
        );
    }
}
