//! - `mainnet`: a header, an account and a pool's words of mainnet, and every change of them
//! - `anchors`: older blocks proven from a newer one, and every way not to; `canonical`: sources that agree, contradict
//!   and are silent
//! - `tries`: tries made here, walked; `states`: pools in them, proven and lied about; `feeds`: oracles beside them;
//!   `vectors`: all of it for other verifiers

mod anchors;
mod canonical;
mod feeds;
mod mainnet;
mod states;
mod tries;
mod vectors;
