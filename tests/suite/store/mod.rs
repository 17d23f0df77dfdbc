//! The append-only store, its log and the folder that is published.

mod alerts;
mod apart;
mod binary;
pub mod bucket;
mod claims;
mod crash;
mod days;
mod days_bucket;
mod days_killed;
mod days_many;
mod endings;
mod figures;
mod fills;
mod folder;
mod followed;
mod fsck;
mod issued;
mod keys;
mod merkle;
mod pairs;
mod payments;
pub mod postgres;
mod retractions;
mod sealer;
mod sealing;
mod series;
mod tamper;
