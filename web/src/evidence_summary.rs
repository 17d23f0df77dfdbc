//! What an evidence file says of itself, in words. It may be false in every letter.

use exitgap_core::evidence::{Answer, Base, Evidence, EvidenceRefusal, EvidenceStatement};
use exitgap_core::snapshot::Snapshot;

use crate::text;

/// The most characters of a file's own text that are shown: no true one is longer.
const MAX_SHOWN_CHARS: usize = 40;

/// What is shown of a file beside its report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceSummary {
    /// The symbol of the token sold, where the snapshot can be read.
    pub sold: Option<String>,
    /// What becomes of the size, as the end of a sentence.
    pub ends: String,
    /// Whether its figures come from a chain that is not live.
    pub preview: bool,
}

impl EvidenceSummary {
    /// What an evidence file says; nothing if it cannot be read.
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

/// Why a size cannot be filled, and the most that can be.
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
