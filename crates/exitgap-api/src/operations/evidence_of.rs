//! The subject of an evidence file or a figure file, the file's address, and the request to verify it.

use exitgap_core::evidence::{Base, MAX_METHOD_VERSION_LENGTH};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;

use super::figures::{address_of_file, check_address, figure_files};
use super::parameters::{BASE_BY_PLACE, EVIDENCE_SLOT, EVIDENCE_URL, METHOD, SIZE};
use super::{Given, Operation, Parameter, Question, Target, values};
use crate::Problem;
use crate::parameters::shown;

/// The maximum length of the URL of an evidence or figure file, in bytes: that of a portfolio names up to 24 tokens and 24
/// pools, and the host name may be long.
pub(super) const MAX_EVIDENCE_URL_BYTES: usize = 8_192;

/// The subject of an evidence file.
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
    /// The version of the rules that the answer was computed with.
    pub method_version: String,
}

impl EvidenceOf {
    /// Parses an `evidence_url` with any host. A URL without a version of the rules means the newest version.
    pub fn from_url(url: &str) -> Option<Self> {
        let (_, rest) = url.split_once(Operation::Evidence.prefix())?;
        let (pool, query) = rest.split_once('?')?;
        let query = query.split('#').next()?;
        let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let one = |parameter: &Parameter| {
            pairs.iter().find(|(key, _)| key == parameter.name).map(|(_, value)| &**value)
        };
        let pool = decode_colon(pool);
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

    /// The address of the newest method's evidence up to the position of the size, which [`EvidenceOf::with_size`]
    /// appends. A service writes many such addresses for one slot.
    pub fn up_to_size(pool: &PoolId, base: Base, slot: Slot) -> String {
        Self::before_size(pool, base, slot).up_to(&SIZE)
    }

    /// The address of the evidence for this size, appended to the part that precedes it.
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

/// A pool's identifier in a path, in which some programs escape its colon.
fn decode_colon(named: &str) -> String {
    named.replace("%3A", ":").replace("%3a", ":")
}

/// The subject of a figure file: its operation with the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureOf {
    /// The operation that returns the file.
    pub operation: Operation,
    /// The variable part of its path.
    pub named: Option<String>,
    /// Its query.
    pub query: String,
}

impl FigureOf {
    /// Parses the URL of a figure file with any host. The parameters are not parsed yet.
    pub fn from_url(url: &str) -> Option<Self> {
        let url = url.split('#').next()?;
        figure_files().find_map(|operation| {
            let path = &url[url.find(operation.prefix())?..];
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            let named = path.strip_prefix(operation.prefix())?;
            let named = (!named.is_empty()).then(|| decode_colon(named));
            operation.is_at(path).then(|| Self { operation, named, query: query.to_owned() })
        })
    }

    /// Whether this file is the one of this address: of the operation's figure, with exactly the parameters of the address.
    /// `None` if this program cannot read the file's parameters, as of a later version.
    pub fn is_of_file(&self, file: &[u8]) -> Option<bool> {
        let own = address_of_file(self.operation, file)?;
        let (path, query) = own.as_str().split_once('?').unwrap_or((own.as_str(), ""));
        let named = path.strip_prefix(self.operation.prefix()).unwrap_or_default();
        // An address that repeats or omits a parameter asks for something else.
        let pairs = |query: &str| {
            let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
            let mut pairs: Vec<(String, String)> = pairs.collect();
            pairs.sort_unstable();
            pairs
        };
        let is_named = named == self.named.as_deref().unwrap_or_default();
        Some(is_named && pairs(query) == pairs(&self.query))
    }

    /// Requires parameters that its own address accepts.
    pub fn check(&self) -> Result<(), Problem> {
        check_address(self)
    }

    /// Parses its parameters, which must be those of its operation.
    pub fn parse_question<Q: Question>(&self) -> Result<Q, Problem> {
        self.operation.parse_question(self.named.as_deref(), &self.query)
    }
}

/// The subject of a file that proves something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofOf {
    /// Evidence of one number.
    Exit(EvidenceOf),
    /// A figure file.
    Figure(FigureOf),
}

impl ProofOf {
    /// Parses the URL of such a file with any host.
    pub fn from_url(url: &str) -> Option<Self> {
        let evidence = EvidenceOf::from_url(url).map(Self::Exit);
        evidence.or_else(|| FigureOf::from_url(url).map(Self::Figure))
    }

    /// The operation that returns the file.
    fn operation(&self) -> Operation {
        match self {
            Self::Exit(_) => Operation::Evidence,
            Self::Figure(figure) => figure.operation,
        }
    }
}

/// The request to verify evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationAsked {
    /// The URL of the evidence, as given.
    pub url: String,
    /// The subject of the evidence.
    pub of: ProofOf,
}

impl VerificationAsked {
    /// Requires that the evidence URL begins with one of these hosts, each without a trailing slash. Evidence of other
    /// logs is not fetched.
    pub fn require_host(&self, hosts: &[&str]) -> Result<(), Problem> {
        let path = self.of.operation().prefix();
        let is_at =
            |host: &&str| self.url.strip_prefix(*host).is_some_and(|rest| rest.starts_with(path));
        if hosts.iter().any(is_at) {
            return Ok(());
        }
        let detail = format!(
            "{}: {:?} is not a file of this log, which is at {}",
            EVIDENCE_URL.name,
            shown(&self.url),
            hosts.join(" and ")
        );
        Err(values::refusal(&EVIDENCE_URL, &detail))
    }
}

impl Question for VerificationAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        given.parse_required(&EVIDENCE_URL, |text| {
            let of = (text.len() <= MAX_EVIDENCE_URL_BYTES).then(|| ProofOf::from_url(text));
            let Some(of) = of.flatten() else {
                let detail = format!(
                    "{}: {:?} is not the URL of an evidence or figure file",
                    EVIDENCE_URL.name,
                    shown(text)
                );
                return Err(values::refusal(&EVIDENCE_URL, &detail));
            };
            Ok(Self { url: text.to_owned(), of })
        })
    }
}
