//! - `mainnet`: a header, an account and a pool's words of mainnet, and every change to them
//! - `anchors`: older blocks proven from a newer one, and invalid proofs; `canonical`: sources that agree, contradict
//!   or are silent
//! - `tries`: walks through generated tries; `states`: pools in them, honest and false; `feeds`: oracles of such pools;
//!   `vectors`: all of these for other verifiers

mod anchors;
mod canonical;
mod feeds;
mod mainnet;
mod states;
mod tries;
mod vectors;
