//! A summary of an evidence file's own claims. All of it may be false.

use exitgap_core::evidence::{Answer, Base, Evidence, EvidenceRefusal, EvidenceStatement};
use exitgap_core::snapshot::Snapshot;

use crate::text;

/// Maximum length of the file's own texts: valid texts are never longer.
const MAX_SHOWN_CHARS: usize = 40;

/// The parts of a file shown next to its report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceSummary {
    /// The symbol of the token that is sold, if the snapshot can be read.
    pub sold: Option<String>,
    /// The result for the size, as the end of a sentence.
    pub ends: String,
    /// Whether its chain is marked as a preview.
    pub preview: bool,
}

impl EvidenceSummary {
    /// The summary of an evidence file; empty if it cannot be read.
    pub fn from_evidence(evidence: &Evidence) -> Self {
        let Some(EvidenceStatement { request, answer, .. }) = evidence.statement() else {
            return Self::default();
        };
        let observation = evidence.snapshot().map(Snapshot::observation);
        let index = usize::from(request.base == Base::Token1);
        let stated = answer.result().is_some_and(|result| result.status == "preview");
        let ends = match answer {
            Answer::Result(result) => {
                format!("fills {}", text::beside_oracle(&shown(&result.exit_gap_pct)))
            }
            Answer::Refusal(refusal) => cannot(refusal),
        };
        Self {
            sold: observation.map(|observation| observation.tokens()[index].symbol.to_string()),
            ends,
            preview: observation.map_or(stated, |one| !one.chain().kind.is_live()),
        }
    }
}

/// An answer in a few words.
pub fn words(answer: &Answer) -> String {
    match answer {
        Answer::Result(result) => text::percent(&shown(&result.exit_gap_pct)),
        Answer::Refusal(refusal) => cannot(refusal),
    }
}

/// Why a size cannot be filled, and the maximum that can be.
fn cannot(refusal: &EvidenceRefusal) -> String {
    let why = match (refusal.code.as_str(), &refusal.max_fillable_usd) {
        (_, Some(most)) => format!("at most {} can be sold", text::usd_exact(&shown(most))),
        ("beyond_liquidity", None) => "no other size can be filled either".to_owned(),
        ("rounds_to_no_input", None) => {
            "it is worth less than one unit of the token sold".to_owned()
        }
        ("rounds_to_no_output", None) => "the pool would pay less than one unit for it".to_owned(),
        (other, None) => shown(other),
    };
    format!("cannot be filled: {why}")
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN_CHARS).collect()
}
