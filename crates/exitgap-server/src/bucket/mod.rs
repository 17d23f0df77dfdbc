//! The log in a bucket: what the folder has is brought into storage that speaks S3, from which any server of files or CDN
//! hands it out. The folder stays the first publication; a bucket that cannot be reached delays no slot.
//!
//! **In scope**: the table of the configuration (`config`); one object, read, made once, or put in the place of the one that was
//! read (`objects`); bringing the bucket up to the folder, the checkpoint last (`round`), and what nothing of the log commits to
//! (`beside`); when (`mirror`); what is about to be signed (`claims`); a folder out of the bucket (`fetch`). **Out of scope**, and who does it: what is published and in
//! which order it becomes durable (`exitgap-store::LogFolder`), reading the log as others do (`exitgap-client::copy`).
//!
//! # What holds
//!
//! - A slot's files are made before its manifest, and `checkpoint` after all that it commits to: whoever reads a checkpoint
//!   finds its files, whenever this process ends.
//! - What is written once is made with `If-None-Match`: of two writers one makes it, the other's must be the same bytes. What
//!   changes is replaced with `If-Match` on what was read. So a checkpoint is never put in the place of one that was not
//!   looked at: it is this log's, of no more slots, and the store makes its root.
//! - A request whose answer was lost is asked again, and finds its own bytes.

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
