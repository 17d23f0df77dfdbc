//! What is asked of a service.

use exitgap_api::Interval;
use exitgap_core::evidence::{Base, MAX_METHOD_VERSION_LENGTH};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;

/// A history's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryOf {
    /// The pool.
    pub pool: PoolId,
    /// The token sold; the pool's default where absent.
    pub base: Option<Base>,
    /// One of the standard sizes.
    pub size: SizeUsd,
    /// The length of its rows.
    pub interval: Interval,
    /// The first instant, RFC 3339; the series' first where absent.
    pub from: Option<String>,
    /// The last instant, RFC 3339; the newest slot's where absent.
    pub to: Option<String>,
    /// Where a page begins, as the page before said.
    pub cursor: Option<String>,
}

/// What an evidence file is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceOf {
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
    /// The slot.
    pub slot: Slot,
    /// The size.
    pub size: SizeUsd,
    /// The version of the rules it was answered by.
    pub method_version: String,
}

impl EvidenceOf {
    /// Reads an `evidence_url`, whichever host it names. One that names no version of the rules
    /// means the newest.
    pub fn from_url(url: &str) -> Option<Self> {
        let (_, rest) = url.split_once("/api/v1/exit/")?;
        let (pool, query) = rest.split_once('?')?;
        let query = query.split('#').next()?;
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let one = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| &**value);
        let pool = pool.replace("%3A", ":").replace("%3a", ":");
        let method = one("method_version").unwrap_or(METHOD_VERSION);
        let of_version = |c: char| c.is_ascii_digit() || c == '.';
        if method.len() > MAX_METHOD_VERSION_LENGTH || !method.chars().all(of_version) {
            return None;
        }
        Some(Self {
            pool: pool.parse().ok()?,
            base: Base::from_code(one("base")?)?,
            slot: Slot::new(one("slot")?.parse().ok()?).ok()?,
            size: one("size_usd")?.parse().ok()?,
            method_version: method.to_owned(),
        })
    }
}
