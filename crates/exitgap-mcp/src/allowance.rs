//! A caller's free quota.

use std::fmt;
use std::sync::Arc;

use exitgap_api::Problem;

use crate::ToolName;

/// A caller's right to estimates, if others must be paid for. The HTTP service adds it to the request's extensions.
#[derive(Clone)]
pub struct Allowance(Arc<dyn Fn() -> Result<(), Problem> + Send + Sync>);

impl Allowance {
    /// Creates an allowance from a function that takes one estimate, or returns a problem.
    pub fn new(take: impl Fn() -> Result<(), Problem> + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Takes the cost of calling this tool: one estimate, if it computes a sale.
    pub(crate) fn charge_call(&self, tool: ToolName) -> Result<(), Problem> {
        match tool {
            ToolName::EstimateExit | ToolName::MaxExitSize | ToolName::SimulateOrders => (self.0)(),
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
