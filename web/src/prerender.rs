//! What the page said that was served, until its program came.

use leptos::prelude::*;

/// Heading and words of the page that was served.
#[derive(Debug, Clone)]
pub struct PrerenderedPage {
    path: String,
    heading: String,
    lead: String,
}

impl PrerenderedPage {
    /// Takes them off the page, which the program makes from here on.
    pub fn taken() -> Option<Self> {
        let first = document().get_element_by_id("first")?;
        let text = |selector| first.query_selector(selector).ok()??.text_content();
        let words = text("h1").zip(text(".lead"));
        first.remove();
        let (heading, lead) = words?;
        Some(Self { path: window().location().pathname().ok()?, heading, lead })
    }
}

/// They stay until there is more to say; on a page that the reader went on to, this heading stands instead.
#[component]
pub fn Meanwhile(
    /// The heading of any other page, where it has one by now.
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
