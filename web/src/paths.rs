//! Addresses and titles of pages, in one place.

use exitgap_api::operations::Operation;
use exitgap_client::EvidenceOf;
use leptos::prelude::document;

/// A page of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// All pools, ranked.
    Board,
    /// One pool.
    Pool(String),
    /// Where and when to sell a holding of a token, as `<chain>:<address>`.
    Exit(String),
    /// A lender's report on several pools.
    Risk,
    /// The evidence of one result.
    Evidence(EvidenceOf),
    /// Verifies a file.
    Verify,
    /// Several positions.
    Portfolio,
    /// The accuracy of all pools' estimates.
    Accuracy,
    /// Tokenized stocks, session by session.
    Equities,
    /// The reader's own rules.
    Alerts,
    /// The capabilities of this deployment.
    Capabilities,
    /// How the number is computed.
    Method,
}

impl Page {
    /// The page's address on this site.
    pub fn href(&self) -> String {
        match self {
            Self::Board => "/".to_owned(),
            Self::Pool(pool) => format!("/pools/{pool}"),
            Self::Exit(token) => format!("/exit/{token}"),
            Self::Risk => "/risk".to_owned(),
            // The file and the page that checks it have the same address.
            Self::Evidence(of) => of.target().to_string(),
            Self::Verify => "/verify".to_owned(),
            Self::Portfolio => "/portfolio".to_owned(),
            Self::Accuracy => "/accuracy".to_owned(),
            Self::Equities => "/equities".to_owned(),
            Self::Alerts => "/alerts".to_owned(),
            Self::Capabilities => "/capabilities".to_owned(),
            Self::Method => "/method".to_owned(),
        }
    }
}

/// The page for an `evidence_url`, whatever its host.
pub fn evidence_href(url: &str) -> Option<String> {
    EvidenceOf::from_url(url).map(|of| Page::Evidence(of).href())
}

/// The title of the page at a path, the same as in the served HTML.
pub fn title_of(path: &str) -> String {
    let known = match path {
        "/" => "Exit cost by pool | exitgap",
        "/verify" => "Verify an evidence file | exitgap",
        "/portfolio" => "Portfolio | exitgap",
        "/accuracy" => "Estimate accuracy | exitgap",
        "/equities" => "Tokenized stocks | exitgap",
        "/alerts" => "Alerts | exitgap",
        "/capabilities" => "Capabilities | exitgap",
        "/method" => "How it works | exitgap",
        "/risk" => "Risk report | exitgap",
        _ if path.starts_with("/exit/") => "Where and when to exit | exitgap",
        _ if path.starts_with("/pools/") => return pool_title("Pool"),
        _ if path.starts_with(Operation::Evidence.prefix()) => {
            return "Evidence | exitgap".to_owned();
        }
        _ => "Page not found | exitgap",
    };
    known.to_owned()
}

/// The title of a pool's page.
pub fn pool_title(pair: &str) -> String {
    format!("{pair}: exit gap, depth and slippage | exitgap")
}

/// Sets the title of the browser tab.
pub fn set_title(title: &str) {
    document().set_title(title);
}
