//! The texts of the served page, shown until the program has loaded.

use leptos::prelude::*;

/// The heading and texts of the served page.
#[derive(Debug, Clone)]
pub struct PrerenderedPage {
    path: String,
    heading: String,
    lead: String,
}

impl PrerenderedPage {
    /// Removes them from the page, which the program renders from here on.
    pub fn taken() -> Option<Self> {
        let first = document().get_element_by_id("first")?;
        let text = |selector| first.query_selector(selector).ok()??.text_content();
        let words = text("h1").zip(text(".lead"));
        first.remove();
        let (heading, lead) = words?;
        Some(Self { path: window().location().pathname().ok()?, heading, lead })
    }
}

/// Shows them until there is more; on another page that the reader has navigated to, this heading is shown instead.
#[component]
pub fn Meanwhile(
    /// The heading of another page, if it has one by now.
    #[prop(optional)]
    heading: Option<String>,
) -> impl IntoView {
    let here = window().location().pathname().unwrap_or_default();
    let served =
        use_context::<Option<PrerenderedPage>>().flatten().filter(|served| served.path == here);
    match served {
        Some(PrerenderedPage { heading, lead, .. }) => {
            view! { <h1>{heading}</h1><p class="lead">{lead}</p> }.into_any()
        }
        None => heading.map(|heading| view! { <h1>{heading}</h1> }).into_any(),
    }
}
