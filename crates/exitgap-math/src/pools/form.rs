//! A pool's state as bytes: the canonical JSON of a *state body*, version 1. It contains the contract's data that a
//! fill requires, and nothing that an operator can choose: two operators that read the same block get the same bytes.

use sha2::{Digest, Sha256};

use super::{BalancerError, CryptoSwapError, SolidlyError, StableSwapError};
use super::{ConcentratedError, ConstantProductError, PoolState};
use crate::ids::{Code, StateHash};
use crate::json::{
    CanonicalError, DocumentError, Fields, Json, VERSION, check_canonical, check_version, parse,
};
use crate::newer::Newer;

/// The maximum number of bytes of a state body that is parsed: enough for the maximum number of ticks with numbers as
/// long as those of live pools. More than 44,000 ticks with the longest possible numbers would not fit. A kind refuses
/// states whose body can be longer, so every valid state can be written.
pub const MAX_STATE_BYTES: usize = 4 << 20;

/// Why bytes are not a valid state body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The bytes are not a canonical document with the right structure.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The numbers violate a rule of constant-product pairs.
    #[error(transparent)]
    ConstantProduct(#[from] ConstantProductError),
    /// The numbers violate a rule of concentrated-liquidity pools.
    #[error(transparent)]
    Concentrated(#[from] ConcentratedError),
    /// The numbers violate a rule of Balancer's pools.
    #[error(transparent)]
    Balancer(#[from] BalancerError),
    /// The numbers violate a rule of crypto pools.
    #[error(transparent)]
    CryptoSwap(#[from] CryptoSwapError),
    /// The numbers violate a rule of Aerodrome's pools.
    #[error(transparent)]
    Solidly(#[from] SolidlyError),
    /// The numbers violate a rule of `StableSwap` pools.
    #[error(transparent)]
    StableSwap(#[from] StableSwapError),
}

impl From<String> for StateError {
    fn from(shape: String) -> Self {
        Self::Document(DocumentError::Shape(shape))
    }
}

impl From<CanonicalError> for StateError {
    fn from(error: CanonicalError) -> Self {
        Self::Document(error.into())
    }
}

impl StateError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

impl PoolState {
    /// The SHA-256 of canonical bytes, which identifies the state.
    pub fn hash_of(canonical: &[u8]) -> StateHash {
        StateHash(Sha256::digest(canonical).into())
    }

    /// The canonical bytes, which are stored, served and hashed.
    pub fn to_canonical(&self) -> Result<Vec<u8>, StateError> {
        let bytes = self.to_body().to_canonical()?;
        let (found, most) = (bytes.len(), MAX_STATE_BYTES);
        if found > most {
            return Err(DocumentError::TooLarge { found, most }.into());
        }
        Ok(bytes)
    }

    /// Parses and checks untrusted bytes, which must be canonical.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, StateError> {
        Self::from_parsed(&parse(bytes, MAX_STATE_BYTES)?, bytes)
    }

    /// Same as [`Self::from_canonical`] for bytes that were already parsed.
    pub fn from_parsed(json: &Json<'_>, bytes: &[u8]) -> Result<Self, StateError> {
        let (found, most) = (bytes.len(), MAX_STATE_BYTES);
        if found > most {
            return Err(DocumentError::TooLarge { found, most }.into());
        }
        check_version(json, bytes, "a state")?;
        let mut fields = Fields::from_json(json)?;
        let (_, protocol): (u32, Code) = (fields.take_field("v")?, fields.take_field("protocol")?);
        let Some(state) = Self::from_fields(protocol.as_str(), &mut fields) else {
            check_canonical(&json.to_canonical()?, bytes)?;
            return Err(DocumentError::Newer(Newer::Protocol(protocol)).into());
        };
        let state = state?;
        fields.end()?;
        check_canonical(&state.to_body().to_canonical()?, bytes)?;
        Ok(state)
    }

    fn to_body(&self) -> Json<'_> {
        let common = [
            ("v".into(), Json::Number(VERSION.to_string().into())),
            ("protocol".into(), Json::Text(self.protocol().into())),
        ];
        let fields = self.write_fields().into_iter().map(|(name, json)| (name.into(), json));
        Json::Object(common.into_iter().chain(fields).collect())
    }
}
