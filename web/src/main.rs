//! exitgap's pages. They show what an exit fills at, and recompute a gap whose evidence a reader
//! opens, or asks to have checked, in the reader's own browser, with the core that the server runs.
//!
//! - `app`: the frame around every page; `pages`: one file per page
//! - `parts`: what pages are made of
//! - `chart`: drawing; floating point is used here and nowhere else
//! - `check`: this browser's own verification; `evidence_summary`: what an evidence file claims
//! - `service`: the service that is asked, its stream and its list of pools
//! - `kept_rules`: the reader's own rules; `wallet`: the reader's own wallet
//! - `later`: pages whose programs come when they are opened
//! - `module`: programs that are fetched when they are asked for
//! - `prerender`: what the page said until its program came
//! - `document`: documents that are only shown, read by the names of their fields
//! - `browser`: files for the reader, and what the browser keeps
//! - `paths`, `text`: addresses and numbers as people read them

mod app;
mod browser;
mod chart;
mod check;
mod document;
mod evidence_summary;
mod kept_rules;
mod later;
mod module;
mod pages;
mod parts;
mod paths;
mod prerender;
mod service;
mod text;
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
    let first = prerender::PrerenderedPage::taken();
    mount_to_body(move || {
        provide_context(first);
        app::App()
    });
}
