//! The command by which a file is verified without this site's program.

use leptos::prelude::*;

use super::{FailureNotice, LiveQuery, LoadingNotice};
use crate::service::client;

/// The command, complete: with the key of the log and the address, as this service names them.
#[component]
pub fn VerifyCommand(
    /// What the file is called.
    file: &'static str,
) -> impl IntoView {
    let service = client();
    let address = service.base().to_string();
    let named = LiveQuery::new(
        || (),
        move |()| {
            let service = service.clone();
            async move { service.verifier_key().await }
        },
    );
    let retry = named.again();
    move || {
        match named.answer(&()) {
        None => view! { <LoadingNotice what="the log's key"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
        Some(Ok(keys)) => view! {
            <code class="command">{command(file, &keys, &address)}</code>
            <small>"This is the key that this service reports. Compare it with a copy from another source."</small>
        }
        .into_any(),
    }
    }
}

/// As it is typed. A key that a shell would read anything into is none of a log: its file is named instead.
fn command(file: &str, keys: &str, address: &str) -> String {
    let plain = |one: &str| {
        let is = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=._-:~".contains(&byte);
        !one.is_empty() && !one.starts_with('-') && one.bytes().all(is)
    };
    let keys: Vec<&str> = keys.lines().map(str::trim).filter(|key| plain(key)).collect();
    let keys = if keys.is_empty() { vec!["verifier-key"] } else { keys };
    let trust: Vec<String> = keys.iter().map(|key| format!("--trust {key}")).collect();
    format!("exitgap verify {file} {} --snapshots {address}", trust.join(" "))
}
