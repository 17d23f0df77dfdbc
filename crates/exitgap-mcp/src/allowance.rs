//! A caller's free quota.

use std::fmt;
use std::sync::Arc;

use exitgap_api::Problem;
use exitgap_api::operations::EXITS_OF_TOKEN;
use rmcp::model::JsonObject;

use crate::ToolName;
use crate::arguments::is_of_token;

/// A caller's right to estimates, if others must be paid for. The HTTP service adds it to the request's extensions.
#[derive(Clone)]
pub struct Allowance(Arc<dyn Fn(u32) -> Result<(), Problem> + Send + Sync>);

impl Allowance {
    /// Creates an allowance from a function that takes this many estimates, or returns a problem.
    pub fn new(take: impl Fn(u32) -> Result<(), Problem> + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Takes the cost of calling this tool: one estimate, if it computes a sale, and more for a token sold through its
    /// pools.
    pub(crate) fn charge_call(
        &self,
        tool: ToolName,
        arguments: &JsonObject,
    ) -> Result<(), Problem> {
        match tool {
            ToolName::EstimateExit if is_of_token(arguments) => (self.0)(EXITS_OF_TOKEN),
            ToolName::EstimateExit | ToolName::MaxExitSize | ToolName::SimulateOrders => {
                (self.0)(1)
            }
            ToolName::ListPools
            | ToolName::DepthLadder
            | ToolName::ExitHistory
            | ToolName::FragilityBoard
            | ToolName::VerifyEvidence => Ok(()),
        }
    }
}

impl fmt::Debug for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allowance")
    }
}
