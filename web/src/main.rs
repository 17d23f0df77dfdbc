//! exitgap's pages. They show what an exit fills at, and recompute a gap whose evidence a reader
//! opens, or asks to have checked, in the reader's own browser, with the core that the server runs.
//!
//! - `pages`: one file per page
//! - `parts`: what pages are made of
//! - `chart`: drawing; floating point is used here and nowhere else
//! - `check`: this browser's own verification
//! - `service`: the service that is asked
//! - `kept_rules`: the reader's own rules
//! - `later`: pages whose programs come when they are opened
//! - `module`: programs that are fetched when they are asked for
//! - `served`: what the page said until its program came
//! - `document`: documents that are only shown, read by the names of their fields
//! - `download`, `local_storage`: what the reader takes along, and what the browser keeps
//! - `report`: a report as one file; `size_asked`: sizes that a reader writes
//! - `paths`, `text`: addresses and numbers as people read them

mod app;
mod chart;
mod check;
mod document;
mod download;
mod kept_rules;
mod later;
mod local_storage;
mod module;
mod pages;
mod parts;
mod paths;
mod report;
mod served;
mod service;
mod size_asked;
mod text;
mod told;
mod wallet;

use core::time::Duration;

use leptos::prelude::*;

/// A third of the weight of the one that comes with Rust.
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

fn main() {
    // What was served is painted first: from here on the program keeps the thread for a while. Nothing is painted of a page
    // that nobody sees.
    if document().hidden() {
        begin();
    } else {
        request_animation_frame(|| set_timeout(begin, Duration::ZERO));
    }
}

fn begin() {
    let first = served::Served::taken();
    mount_to_body(move || {
        provide_context(first);
        app::App()
    });
}
