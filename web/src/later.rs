//! Pages, and the code that checks a number, which are loaded on demand, so that a page does not load code that it does
//! not need. The build splits the program at the functions below; code that several parts need is loaded once.

#![expect(clippy::unnecessary_wraps, reason = "what is wrapped is whether a part came")]

use core::pin::Pin;

use exitgap_client::{Browser, Client, ClientError, TransportError};
use leptos::prelude::*;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use crate::check::{self, CheckState, PublishedGap};
use crate::pages::accuracy::AccuracyPage;
use crate::pages::alerts::AlertsPage;
use crate::pages::capabilities::CapabilitiesPage;
use crate::pages::equities::EquitiesPage;
use crate::pages::evidence::EvidencePage;
use crate::pages::exit::ExitPage;
use crate::pages::method::MethodPage;
use crate::pages::pool::PoolPage;
use crate::pages::portfolio::PortfolioPage;
use crate::pages::risk::RiskPage;
use crate::pages::verify::VerifyPage;
use crate::parts::{FailureNotice, LiveQuery, LoadingNotice};
use crate::prerender::Meanwhile;

/// Renders a page once its program has loaded.
type Show = fn() -> AnyView;

/// A page's program that is loading.
type PageFuture = Pin<Box<dyn Future<Output = Result<Show, NotLoaded>>>>;

/// The program could not be loaded.
#[derive(Debug, Clone, Copy)]
pub struct NotLoaded;

impl From<SplitLoaderError> for NotLoaded {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

impl From<NotLoaded> for ClientError {
    fn from(_: NotLoaded) -> Self {
        let error = TransportError::Unreachable("this page's program did not load".to_owned());
        Self::Transport { url: window().location().href().unwrap_or_default(), error }
    }
}

/// A page that is shown once its program has loaded.
#[component]
fn Later(
    /// Loads its program.
    fetch: fn() -> PageFuture,
) -> impl IntoView {
    let program = LiveQuery::new(|| (), move |()| fetch());
    let retry = program.again();
    move || match program.answer(&()) {
        None => view! { <Meanwhile/><LoadingNotice what="this page"/> }.into_any(),
        Some(Err(error)) => view! { <FailureNotice error=error.into() retry=retry/> }.into_any(),
        Some(Ok(show)) => show(),
    }
}

/// Defines pages, each with its entry function and the part of the program that contains it. Pages that are often
/// opened one after the other share a part: more parts would mean more pieces that only some of them share.
macro_rules! later {
    ($($name:ident: $page:ident in $part:ident by $program:ident;)*) => {$(
        #[doc = concat!("The page `", stringify!($page), "`.")]
        pub fn $name() -> AnyView {
            #[wasm_split($part, wasm_split_path = leptos::wasm_split, fallible)]
            fn $program() -> Result<Show, NotLoaded> {
                Ok(|| view! { <$page/> }.into_any())
            }
            view! { <Later fetch=|| Box::pin($program())/> }.into_any()
        }
    )*};
}

later! {
    pool: PoolPage in pool by pool_program;
    portfolio: PortfolioPage in pool by portfolio_program;
    evidence: EvidencePage in evidence by evidence_program;
    verify: VerifyPage in evidence by verify_program;
    exit: ExitPage in figures by exit_program;
    risk: RiskPage in figures by risk_program;
    accuracy: AccuracyPage in figures by accuracy_program;
    equities: EquitiesPage in figures by equities_program;
    alerts: AlertsPage in figures by alerts_program;
    method: MethodPage in words by method_program;
    capabilities: CapabilitiesPage in words by capabilities_program;
}

/// A check that is running.
type CheckFuture = Pin<Box<dyn Future<Output = CheckState>>>;

#[wasm_split(evidence, wasm_split_path = leptos::wasm_split, fallible)]
fn start_check(client: Client<Browser>, published: PublishedGap) -> Result<CheckFuture, NotLoaded> {
    Ok(Box::pin(async move { check::gap(&client, &published).await }))
}

/// Checks a published gap by its evidence.
pub async fn gap(client: &Client<Browser>, published: &PublishedGap) -> CheckState {
    match start_check(client.clone(), published.clone()).await {
        Ok(checked) => checked.await,
        Err(error) => CheckState::Failed(ClientError::from(error).to_string()),
    }
}
