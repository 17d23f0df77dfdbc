//! What one caller may ask free of charge.

use std::fmt;
use std::sync::Arc;

use exitgap_api::Problem;

use crate::ToolName;

/// A caller's right to estimates, where others are paid for. It travels with the request, among whose
/// extensions the HTTP service puts it.
#[derive(Clone)]
pub struct Allowance(Arc<dyn Fn() -> Result<(), Problem> + Send + Sync>);

impl Allowance {
    /// One that takes an estimate, or refuses it as a problem.
    pub fn new(take: impl Fn() -> Result<(), Problem> + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Takes what a call of this tool costs: one estimate, where it answers for a sale.
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
