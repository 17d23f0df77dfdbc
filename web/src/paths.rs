//! Addresses of pages, from one place.

use exitgap_client::EvidenceOf;
use exitgap_core::evidence::Base;

/// A page of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// All pools, ranked.
    Board,
    /// One pool.
    Pool(String),
    /// The evidence of one result.
    Evidence(EvidenceOf),
    /// Check a file.
    Verify,
    /// Several positions.
    Portfolio,
    /// What this deployment can do.
    Capabilities,
    /// How the number is made.
    Method,
}

impl Page {
    /// The page's address on this site.
    pub fn href(&self) -> String {
        match self {
            Self::Board => "/".to_owned(),
            Self::Pool(pool) => format!("/pools/{pool}"),
            Self::Evidence(of) => {
                let base = match of.base {
                    Base::Token0 => "token0",
                    Base::Token1 => "token1",
                };
                format!(
                    "/api/v1/exit/{}?base={base}&slot={}&size_usd={}&method_version={}",
                    of.pool,
                    of.slot.number(),
                    of.size,
                    of.method_version
                )
            }
            Self::Verify => "/verify".to_owned(),
            Self::Portfolio => "/portfolio".to_owned(),
            Self::Capabilities => "/capabilities".to_owned(),
            Self::Method => "/method".to_owned(),
        }
    }
}

/// The page of an `evidence_url`, whatever host it was published under.
pub fn evidence_href(url: &str) -> Option<String> {
    EvidenceOf::from_url(url).map(|of| Page::Evidence(of).href())
}
