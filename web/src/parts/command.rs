//! The command that verifies a file without this site's program.

use leptos::prelude::*;

use super::{FailureNotice, LiveQuery, LoadingNotice};
use crate::service::client;

/// The complete command, with the log's key and the URL according to this service.
#[component]
pub fn VerifyCommand(
    /// The file's name.
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

/// The command line. A key with characters that are special in a shell is not a valid log key: then a key file is named
/// instead.
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
