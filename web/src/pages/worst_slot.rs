//! The worst slots of a sale, from a stress answer.

use leptos::prelude::*;

use crate::chart::parse_number;
use crate::document::Document;
use crate::parts::link_evidence;
use crate::paths::evidence_href;
use crate::text;

/// A slot, with the fill of the sale.
pub struct WorstSlot {
    /// Its instant, RFC 3339.
    pub time: String,
    /// The gap, percent; `None` if the size could not be filled.
    pub gap: Option<String>,
    /// The maximum that could be filled, USD, if that is the reason.
    pub most: Option<String>,
    /// The page with the evidence.
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

    /// Up to ten slots of a period, worst first; empty for a period that is too long for the service to list them.
    pub fn from_stress(stress: &Document) -> Vec<Self> {
        let told = stress.part("detail").map(|detail| detail.list("worst_slots"));
        told.unwrap_or_default().iter().map(Self::from_document).collect()
    }

    /// The severity for sorting: a size that cannot be filled is worse than any gap, and the worse the less can be
    /// filled.
    pub fn severity(&self) -> (f64, f64) {
        match &self.gap {
            Some(gap) => (parse_number(gap).unwrap_or(0.0), 0.0),
            None => (f64::INFINITY, -self.most.as_deref().and_then(parse_number).unwrap_or(0.0)),
        }
    }

    /// The fill, as a link to its evidence.
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
