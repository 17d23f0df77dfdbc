//! Uploads the log to a bucket: the contents of the folder go to S3-compatible storage, from which any file server or
//! CDN can serve them. The folder remains the primary publication; an unreachable bucket delays no slot.
//!
//! **In scope**: the configuration table (`config`); one object: read, created once, or replaced if unchanged since it
//! was read (`objects`); bringing the bucket up to date with the folder, the checkpoint last (`round`), and with the
//! files that the log does not commit to (`beside`); the schedule (`mirror`); claims for what is about to be signed
//! (`claims`); downloading a folder from the bucket (`fetch`). **Out of scope**: what is published and in which order
//! it becomes durable (`exitgap-store::LogFolder`), reading the log as others do (`exitgap-client::copy`).
//!
//! # Guarantees
//!
//! - A slot's files are created before its manifest, and `checkpoint` after everything that it commits to: a reader of
//!   a checkpoint finds its files, whenever this process ends.
//! - Write-once objects are created with `If-None-Match`: of two writers one creates the object, and the other's must
//!   have the same bytes. Changing objects are replaced with `If-Match` on the version that was read. So a new
//!   checkpoint only replaces one that was checked: it belongs to this log, covers no more slots, and the store
//!   computes the same root.
//! - A request whose answer was lost is repeated, and finds its own bytes.

mod beside;
mod claims;
mod config;
mod days;
mod error;
mod fetch;
mod mirror;
mod objects;
mod round;

pub use config::{BucketConfig, BucketPlan};
pub use error::BucketError;
pub use mirror::{Bucket, BucketTold, MirrorHandle};
pub use round::Brought;
