//! A chain's latest block, read for one answer.

use exitgap_core::ids::PoolId;

use super::{Found, unreadable};
use crate::arguments::SourceArgs;
use crate::failure::Failure;

pub fn find(_source: &SourceArgs, _pool: &PoolId) -> Result<Found, Failure> {
    Err(unreadable("x").into())
}
