//! The conditions of a figure: the market's session, the oracle's answers, the method.

use exitgap_api::{Context, OracleDisclosure};
use leptos::prelude::*;

use super::exact;
use crate::text;

/// Market, oracle answers and method of a result.
#[component]
pub fn Conditions(
    /// The context of the result.
    context: Context,
) -> impl IntoView {
    // Token 0 has the lower address.
    let (base, quote) = (&context.base, &context.quote);
    let symbols = if base.address < quote.address { [base, quote] } else { [quote, base] };
    let symbols = symbols.map(|token| token.symbol.clone());
    let feeds: Vec<_> =
        context.method.oracles.iter().map(|one| render_feed(one, &symbols)).collect();
    let (class, open) =
        if context.market_open { ("", "open") } else { ("standing warn", "closed") };
    let market = format!("{open} ({})", context.session_note);
    view! {
        <div><dt>"Market"</dt><dd id="market"><span class=class>{market}</span></dd></div>
        <div><dt>"Oracle prices"</dt><dd id="feeds">{feeds}</dd></div>
        <div><dt>"Method"</dt><dd id="method">{context.method_version}</dd></div>
    }
}

/// The source of a token's price, and the age of the answer at the block.
fn render_feed(oracle: &OracleDisclosure, symbols: &[String; 2]) -> impl IntoView + use<> {
    let symbol = symbols[usize::from(oracle.role == "token1_usd")].clone();
    let words = match (&oracle.feed, oracle.age_s) {
        (Some(feed), Some(age)) => {
            let feed = exact(text::short_hash(feed), feed.clone());
            let before = format!(", updated {} before the block", text::age(age));
            view! { {format!("{symbol}: {} ", oracle.source)}{feed}{before} }.into_any()
        }
        _ => format!("{symbol}: a {} price", oracle.source).into_any(),
    };
    let stale =
        oracle.stale.then(|| view! { " "<span class="tag warn">"older than its heartbeat"</span> });
    view! { <div>{words}{stale}</div> }
}
