//! exitgap's pages. They show the estimated fill of an exit. If a reader opens evidence or requests a check, the gap is
//! recomputed in the reader's own browser, with the same core as on the server.
//!
//! - `app`: the frame around every page; `pages`: one file per page
//! - `parts`: components shared by pages
//! - `chart`: charts; floating point is used here and nowhere else
//! - `check`: verification in this browser; `evidence_summary`: what an evidence file claims
//! - `service`: the service, its stream and its list of pools
//! - `kept_rules`: the reader's own rules; `wallet`: the reader's own wallet
//! - `later`: pages whose programs are loaded on demand
//! - `module`: modules that are loaded on demand
//! - `prerender`: the served page's texts, shown until the program has loaded
//! - `document`: documents that are only displayed, read by the names of their fields
//! - `browser`: downloads and the browser's storage
//! - `paths`, `text`: addresses, and numbers as people read them

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

/// A third of the size of Rust's default allocator.
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

fn main() {
    // Let the browser paint the served page first, because the program then occupies the thread for a while. A page in
    // the background is not painted, so it does not wait.
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
