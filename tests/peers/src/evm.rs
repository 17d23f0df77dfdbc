//! The contracts' own code, executed in this process: no node, no blocks, no wall clock.

use alloy::primitives::{Address, Bytes, Log, TxKind, U256, keccak256};
use alloy::sol_types::{SolCall, SolValue};
use revm::bytecode::Bytecode;
use revm::context::{BlockEnv, CfgEnv, Context, TxEnv};
use revm::context_interface::result::{ExecutionResult, Output};
use revm::database::{CacheDB, EmptyDB};
use revm::primitives::hardfork::SpecId;
use revm::state::{AccountInfo, EvmState};
use revm::{DatabaseCommit, ExecuteEvm, MainBuilder, MainContext, MainnetEvm};

use crate::ParityError;
use exitgap_tests::fixtures::Artifact;

/// The account that sends every call.
pub const OPERATOR: Address = Address::repeat_byte(0x11);

/// 2026-08-22T00:00:00Z, the first instant of the recorded series.
const TIMESTAMP: u64 = 1_787_356_800;

/// More than any call here takes, and far from overflowing the machine's counters.
const GAS: u64 = 1 << 50;

type Database = CacheDB<EmptyDB>;
type MachineContext = Context<BlockEnv, TxEnv, CfgEnv, Database>;

/// A machine with contracts on it. Cloning the state of one is cheap: see [`Evm::fork`].
pub struct Evm {
    machine: MainnetEvm<MachineContext>,
}

/// What a call did. Nothing of it is kept unless it is given to [`Evm::keep`].
pub struct Called {
    /// Returned data, or the reason the contract reverted with.
    pub outcome: Result<Bytes, Revert>,
    /// Events, in order.
    pub logs: Vec<Log>,
    state: EvmState,
}

/// A contract refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert(
    /// The data it reverted with.
    pub Bytes,
);

impl Revert {
    /// The text of `Error(string)`, or the raw data in hexadecimal.
    pub fn reason(&self) -> String {
        let text = self.0.strip_prefix(&[0x08, 0xc3, 0x79, 0xa0]);
        text.and_then(|data| String::abi_decode(data).ok()).unwrap_or_else(|| self.0.to_string())
    }
}

impl Evm {
    /// An empty machine.
    pub fn new() -> Self {
        Self::over(Database::default())
    }

    /// A machine of its own with the same state.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::over(self.machine.ctx.journaled_state.database.clone())
    }

    fn over(database: Database) -> Self {
        let context = Context::mainnet().with_db(database);
        let context = context
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
                cfg.disable_nonce_check = true;
                cfg.tx_gas_limit_cap = Some(u64::MAX);
            })
            .modify_block_chained(|block| {
                block.timestamp = U256::from(TIMESTAMP);
                block.gas_limit = u64::MAX;
            });
        Self { machine: context.build_mainnet() }
    }

    /// Places code that no constructor has to run for.
    pub fn place(&mut self, at: Address, code: Vec<u8>) {
        let info = AccountInfo::from_bytecode(Bytecode::new_raw(code.into()));
        self.machine.ctx.journaled_state.database.insert_account_info(at, info);
    }

    /// Deploys a published contract with these encoded constructor arguments.
    pub fn deploy(&mut self, artifact: Artifact, arguments: &[u8]) -> Result<Address, ParityError> {
        let code = [artifact.creation_code()?.as_ref(), arguments].concat();
        let (result, state) = self.execute(TxKind::Create, code.into())?;
        match result {
            ExecutionResult::Success { output: Output::Create(_, Some(address)), .. } => {
                self.machine.ctx.journaled_state.database.commit(state);
                Ok(address)
            }
            other => Err(ParityError::Machine(format!("deploying {artifact:?}: {other:?}"))),
        }
    }

    /// Calls a contract and keeps nothing of what it did.
    pub fn call(&mut self, to: Address, data: Bytes) -> Result<Called, ParityError> {
        let (result, state) = self.execute(TxKind::Call(to), data)?;
        let (outcome, logs) = match result {
            ExecutionResult::Success { output, logs, .. } => (Ok(output.into_data()), logs),
            ExecutionResult::Revert { output, .. } => (Err(Revert(output)), Vec::new()),
            // Solidity before 0.8 runs into invalid code where it asserts.
            ExecutionResult::Halt { .. } => (Err(Revert(Bytes::new())), Vec::new()),
        };
        Ok(Called { outcome, logs, state })
    }

    /// Keeps what a call did.
    pub fn keep(&mut self, called: Called) {
        self.machine.ctx.journaled_state.database.commit(called.state);
    }

    /// Calls, keeps, and answers the decoded return value; a revert is an error.
    pub fn must<C: SolCall>(&mut self, to: Address, call: &C) -> Result<C::Return, ParityError> {
        let called = self.call(to, call.abi_encode().into())?;
        let answer = decoded::<C>(&called.outcome)?;
        self.keep(called);
        Ok(answer)
    }

    /// Calls and keeps nothing; a revert is an answer.
    pub fn ask<C: SolCall>(
        &mut self,
        to: Address,
        call: &C,
    ) -> Result<Result<C::Return, Revert>, ParityError> {
        let outcome = self.call(to, call.abi_encode().into())?.outcome;
        match outcome {
            Ok(_) => decoded::<C>(&outcome).map(Ok),
            Err(revert) => Ok(Err(revert)),
        }
    }

    fn execute(
        &mut self,
        kind: TxKind,
        data: Bytes,
    ) -> Result<(ExecutionResult, EvmState), ParityError> {
        let tx = TxEnv {
            caller: OPERATOR,
            gas_limit: GAS,
            gas_price: 0,
            kind,
            data,
            ..TxEnv::default()
        };
        let done = self.machine.transact(tx).map_err(|error| {
            ParityError::Machine(format!("the machine refused a transaction: {error:?}"))
        })?;
        Ok((done.result, done.state))
    }
}

impl Default for Evm {
    fn default() -> Self {
        Self::new()
    }
}

impl Called {
    /// By how much the balance of `holder` in the fixture token `token` changed: gained, lost.
    pub fn moved(&self, token: Address, holder: Address) -> (U256, U256) {
        // The fixture's balances are a mapping at storage slot 0.
        let slot = U256::from_be_bytes(keccak256((holder, U256::ZERO).abi_encode()).0);
        let found = self.state.get(&token).and_then(|account| account.storage.get(&slot));
        let (before, after) =
            found.map_or_else(Default::default, |slot| (slot.original_value, slot.present_value));
        (after.saturating_sub(before), before.saturating_sub(after))
    }
}

/// The return value of an outcome that must not be a revert.
pub fn decoded<C: SolCall>(outcome: &Result<Bytes, Revert>) -> Result<C::Return, ParityError> {
    let data = outcome
        .as_ref()
        .map_err(|revert| ParityError::Reverted { call: C::SIGNATURE, reason: revert.reason() })?;
    C::abi_decode_returns(data)
        .map_err(|error| ParityError::Machine(format!("{} answered {error}", C::SIGNATURE)))
}
