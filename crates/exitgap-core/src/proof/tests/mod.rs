//! - `mainnet`: a header, an account and a pool's words of mainnet, and every change of them
//! - `tries`: tries made here, walked; `states`: pools in them, proven and lied about; `feeds`: oracles beside them;
//!   `vectors`: all of it for other verifiers

mod feeds;
mod mainnet;
mod states;
mod tries;
mod vectors;
