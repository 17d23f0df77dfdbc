//! What an evidence file is of, and its address.

use exitgap_core::evidence::{Base, MAX_METHOD_VERSION_LENGTH};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;

use super::parameters::{BASE_BY_PLACE, EVIDENCE_SLOT, METHOD, SIZE};
use super::{Operation, Parameter, Target};

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
        let (_, rest) = url.split_once(Operation::Evidence.prefix())?;
        let (pool, query) = rest.split_once('?')?;
        let query = query.split('#').next()?;
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let one = |parameter: &Parameter| {
            pairs.iter().find(|(key, _)| key == parameter.name).map(|(_, value)| &**value)
        };
        let pool = pool.replace("%3A", ":").replace("%3a", ":");
        let method = one(&METHOD).unwrap_or(METHOD_VERSION);
        let of_version = |c: char| c.is_ascii_digit() || c == '.';
        if method.len() > MAX_METHOD_VERSION_LENGTH || !method.chars().all(of_version) {
            return None;
        }
        Some(Self {
            pool: pool.parse().ok()?,
            base: Base::from_code(one(&BASE_BY_PLACE)?)?,
            slot: Slot::new(one(&EVIDENCE_SLOT)?.parse().ok()?).ok()?,
            size: one(&SIZE)?.parse().ok()?,
            method_version: method.to_owned(),
        })
    }

    /// Its address, without scheme and host.
    pub fn target(&self) -> Target {
        Self::before_size(&self.pool, self.base, self.slot)
            .with(&SIZE, self.size)
            .with(&METHOD, &self.method_version)
    }

    /// The address of the newest method's evidence up to where the size stands, which
    /// [`EvidenceOf::with_size`] adds: a service writes many of them for one slot.
    pub fn up_to_size(pool: &PoolId, base: Base, slot: Slot) -> String {
        Self::before_size(pool, base, slot).up_to(&SIZE)
    }

    /// The address of the evidence of this size, written plainly, after what comes before it.
    pub fn with_size(up_to_size: &str, size_usd: &str) -> String {
        [up_to_size, size_usd, "&", METHOD.name, "=", METHOD_VERSION].concat()
    }

    fn before_size(pool: &PoolId, base: Base, slot: Slot) -> Target {
        Operation::Evidence
            .target_of(pool)
            .with(&BASE_BY_PLACE, base.code())
            .with(&EVIDENCE_SLOT, slot.number())
    }
}
