//! What tests stand on: pools, stores, services and projects in a state worth asking about.
//! No test is here.

pub mod agents;
pub mod between;
pub mod chain;
pub mod client;
pub mod days;
pub mod facilitator;
pub mod fills;
pub mod growing;
pub mod here;
pub mod holes;
pub mod hosts;
pub mod hours;
pub mod kinds;
pub mod left_days;
pub mod log;
pub mod npm;
pub mod npm_cases;
pub mod operator;
pub mod operator_at_work;
pub mod origin;
pub mod proxy;
pub mod reference;
pub mod service;
pub mod share;
pub mod store;
pub mod till;
pub mod usdc;
pub mod vectors;
pub mod witness;
