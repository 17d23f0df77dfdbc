//! Whose word a confirmation is: that of a program which the judged server itself sent.

use leptos::prelude::*;

/// Where it is said how to use another program.
pub const ELSEWHERE: &str = "/method#elsewhere";

/// Said on every page, in its one place for that.
#[component]
pub fn Whose() -> impl IntoView {
    view! {
        <p id="whose">
            "These checks run in code served by this same server. A dishonest server could send code that always \
             says yes. "
            <a href=ELSEWHERE>"Verify with independent software"</a>
            ": the command line, the npm package, or another server's "<code>"/verify"</code>"."
        </p>
    }
}
