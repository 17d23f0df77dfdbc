//! An account that pays what a pool asks for in its callback.
//!
//! Uniswap v3 pools call back whoever minted or swapped and expect the tokens to be there when the
//! callback returns. The published routers do that, but hide exact liquidity and partial fills;
//! this account hides nothing. Its code, sixty instructions, is assembled here:
//!
//! - called by the sender of the transaction, it calls the address in the first 32 bytes with the
//!   rest of the data, and returns or reverts as that call did;
//! - called by anyone else, it reads two signed amounts (the arguments of both
//!   `uniswapV3MintCallback` and `uniswapV3SwapCallback`) and transfers each positive one to the
//!   caller, in token 0 and token 1.

use alloy::primitives::{Address, Bytes};
use alloy::sol_types::SolCall;
use revm::bytecode::opcode::{
    CALL, CALLDATACOPY, CALLDATALOAD, CALLDATASIZE, CALLER, DUP1, DUP3, EQ, GAS, ISZERO, JUMPDEST,
    JUMPI, MSTORE, ORIGIN, PUSH0, PUSH1, PUSH2, PUSH4, PUSH20, RETURN, RETURNDATACOPY,
    RETURNDATASIZE, REVERT, SGT, SHL, STOP, SUB,
};

use exitgap_tests::devchain::abi::Token;

/// The data that makes the account call `to` with `call`.
pub fn forward<C: SolCall>(to: Address, call: &C) -> Bytes {
    [to.into_word().as_slice(), &call.abi_encode()].concat().into()
}

/// The account's code for a pair of tokens.
pub fn code(tokens: [Address; 2]) -> Vec<u8> {
    let mut code = Code::default();
    code.op(&[CALLER, ORIGIN, EQ]).jump_if(Label::Forward);
    // The callback: `transfer(caller, amount)` laid out from byte 0 of memory.
    code.push4(Token::transferCall::SELECTOR).op(&[PUSH1, 0xe0, SHL, PUSH0, MSTORE]);
    code.op(&[CALLER, PUSH1, 4, MSTORE]);
    for (token, argument, skip) in
        [(tokens[0], 4, Label::SkipToken0), (tokens[1], 36, Label::SkipToken1)]
    {
        code.op(&[PUSH0, PUSH1, argument, CALLDATALOAD, SGT, ISZERO]).jump_if(skip);
        code.op(&[PUSH1, argument, CALLDATALOAD, PUSH1, 36, MSTORE]);
        code.op(&[PUSH0, PUSH0, PUSH1, 68, PUSH0, PUSH0]).push20(token).op(&[GAS, CALL, ISZERO]);
        code.jump_if(Label::Fail).here(skip);
    }
    code.op(&[STOP]).here(Label::Forward);
    code.op(&[PUSH1, 32, CALLDATASIZE, SUB, DUP1, PUSH1, 32, PUSH0, CALLDATACOPY]);
    code.op(&[PUSH0, PUSH0, DUP3, PUSH0, PUSH0, PUSH0, CALLDATALOAD, GAS, CALL]);
    code.op(&[RETURNDATASIZE, PUSH0, PUSH0, RETURNDATACOPY]).jump_if(Label::Done);
    code.here(Label::Fail).op(&[RETURNDATASIZE, PUSH0, REVERT]);
    code.here(Label::Done).op(&[RETURNDATASIZE, PUSH0, RETURN]);
    code.assembled()
}

/// Places that jumps go to.
#[derive(Clone, Copy)]
enum Label {
    SkipToken0,
    SkipToken1,
    Forward,
    Fail,
    Done,
}

/// Code being assembled; jumps are filled in at the end.
#[derive(Default)]
struct Code {
    bytes: Vec<u8>,
    places: [u16; 5],
    jumps: Vec<(usize, Label)>,
}

impl Code {
    fn op(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn push4(&mut self, value: [u8; 4]) -> &mut Self {
        self.op(&[PUSH4]).op(&value)
    }

    fn push20(&mut self, value: Address) -> &mut Self {
        self.op(&[PUSH20]).op(value.as_slice())
    }

    fn jump_if(&mut self, label: Label) -> &mut Self {
        self.op(&[PUSH2, 0, 0, JUMPI]);
        self.jumps.push((self.bytes.len() - 3, label));
        self
    }

    fn here(&mut self, label: Label) -> &mut Self {
        self.places[label as usize] =
            u16::try_from(self.bytes.len()).expect("the code is a few hundred bytes");
        self.op(&[JUMPDEST])
    }

    fn assembled(mut self) -> Vec<u8> {
        for (at, label) in self.jumps {
            self.bytes[at..at + 2].copy_from_slice(&self.places[label as usize].to_be_bytes());
        }
        self.bytes
    }
}
