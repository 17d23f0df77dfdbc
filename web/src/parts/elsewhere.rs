//! Whose word a confirmation is: that of a program which the judged server itself sent.

use leptos::prelude::*;

/// Where it is said how to use another program.
pub const ELSEWHERE: &str = "/method#elsewhere";

/// Said on every page, in its one place for that.
#[component]
pub fn Whose() -> impl IntoView {
    view! {
        <p id="whose">
            "What these pages confirm is confirmed by a program that came from this same server, like the numbers. \
             A server that lies could send one that confirms everything. "
            <a href=ELSEWHERE>"Check with a program from elsewhere"</a>
            ": the command line, the npm package, or another server's "<code>"/verify"</code>"."
        </p>
    }
}
