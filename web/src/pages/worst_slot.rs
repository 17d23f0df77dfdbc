//! The slots in which a sale was worst, as a stress answer tells them.

use leptos::prelude::*;

use crate::chart::parse_number;
use crate::document::Document;
use crate::parts::link_evidence;
use crate::paths::evidence_href;
use crate::text;

/// A slot, and what the sale filled at in it.
pub struct WorstSlot {
    /// Its instant, RFC 3339.
    pub time: String,
    /// The gap, percent; none where it could not be filled.
    pub gap: Option<String>,
    /// The most that could be filled, USD, where that is why.
    pub most: Option<String>,
    /// The page that proves it.
    pub href: Option<String>,
}

impl WorstSlot {
    fn from_document(slot: &Document) -> Self {
        Self {
            time: slot.text_or_none("time"),
            gap: slot.text("exit_gap_pct"),
            most: slot.text("max_fillable_usd"),
            href: slot.text("evidence_url").as_deref().and_then(evidence_href),
        }
    }

    /// Up to ten of a period, the worst first; none of a period that is too long for the service to tell them.
    pub fn from_stress(stress: &Document) -> Vec<Self> {
        let told = stress.part("detail").map(|detail| detail.list("worst_slots"));
        told.unwrap_or_default().iter().map(Self::from_document).collect()
    }

    /// How bad it was: none is worse than any gap, and the less could be filled the worse.
    pub fn severity(&self) -> (f64, f64) {
        match &self.gap {
            Some(gap) => (parse_number(gap).unwrap_or(0.0), 0.0),
            None => (f64::INFINITY, -self.most.as_deref().and_then(parse_number).unwrap_or(0.0)),
        }
    }

    /// What it filled at, as a link to what proves that.
    pub fn shown(self) -> AnyView {
        match (self.gap, self.most) {
            (Some(gap), _) => link_evidence(text::percent_read(&gap), self.href),
            (None, most) => {
                let most = most
                    .map(|most| view! { <small>{format!("at most {}", text::usd(&most))}</small> });
                view! { {link_evidence("cannot be filled".to_owned(), self.href)}{most} }.into_any()
            }
        }
    }
}
