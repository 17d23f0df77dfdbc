//! Try tampering: change one digit, and see which check fails.

use exitgap_client::Verification;
use exitgap_core::evidence::Evidence;
use leptos::prelude::*;

use crate::check;
use crate::evidence_summary::EvidenceSummary;
use crate::parts::{Checks, CollapsibleSection, Verdicts};

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The last digit of the published gap, or of the maximum fill of a size that cannot be filled.
    Number,
    /// A digit of the snapshot.
    Snapshot,
    /// A digit of the recorded state.
    State,
    /// A letter of the log's signed checkpoint.
    Checkpoint,
}

impl Change {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Number, "Change the number's last digit"),
        (Self::Snapshot, "Change a digit of the snapshot"),
        (Self::State, "Change a digit of the pool's state"),
        (Self::Checkpoint, "Change a letter of the signed checkpoint"),
    ];

    /// The texts that may precede the changed text: the first one found is used.
    fn markers(self) -> &'static [&'static str] {
        match self {
            Self::Number => &["\"exit_gap_pct\":\"", "\"paid_raw\":\""],
            Self::Snapshot => &["\"number\":"],
            Self::State => &["\"state\":{"],
            Self::Checkpoint => &["\"log_proof\":\""],
        }
    }

    /// The file with one changed byte, and its position.
    fn apply(self, evidence: &[u8]) -> Option<(Vec<u8>, usize)> {
        let after = |marker: &&str| {
            let mut places = evidence.windows(marker.len());
            Some(places.position(|bytes| bytes == marker.as_bytes())? + marker.len())
        };
        let start = self.markers().iter().find_map(after)?;
        let rest = evidence.get(start..)?;
        let end = rest.iter().position(|byte| *byte == b'"');
        let at = match self {
            Self::Number => end?.checked_sub(1)?,
            Self::Snapshot | Self::State => rest.iter().position(u8::is_ascii_digit)?,
            // Well inside the signature, which is the last line.
            Self::Checkpoint => {
                let before = end?.checked_sub(40)?;
                before + rest[before..].iter().position(u8::is_ascii_alphanumeric)?
            }
        };
        let mut changed = evidence.to_vec();
        let byte = changed.get_mut(start + at)?;
        *byte = match *byte {
            b'9' => b'8',
            b'z' | b'Z' => *byte - 1,
            other => other + 1,
        };
        Some((changed, start + at))
    }
}

/// Buttons that change one digit, and the result of the verification afterwards.
#[component]
pub fn BreakIt(
    /// The original evidence.
    verification: Verification,
) -> impl IntoView {
    let (change, set_change) = signal(None::<Change>);
    let verification = StoredValue::new(verification);
    let buttons: Vec<_> = Change::ALL
        .into_iter()
        .map(|(one, words)| {
            view! {
                <button type="button" aria-pressed=move || (change.get() == Some(one)).to_string()
                    on:click=move |_| set_change.set(Some(one))>{words}</button>
            }
        })
        .collect();
    view! {
        <CollapsibleSection id="break" title="Try tampering with it">
            <p class="quiet">"The change stays in this browser. Nothing is sent."</p>
            <p class="actions">
                {buttons}
                <button type="button" class="small" aria-disabled=move || change.get().is_none().to_string()
                    on:click=move |_| set_change.set(None)>"Undo"</button>
            </p>
            {move || change.get().and_then(|one| {
                let verification = verification.read_value();
                let (changed, at) = one.apply(&verification.bytes)?;
                let was = char::from(*verification.bytes.get(at)?);
                let is = char::from(*changed.get(at)?);
                let changed = Evidence::from_bytes(&changed);
                let report = check::alone(&changed, verification.log.keys.clone());
                let checks = report.report.checks.clone();
                let told = EvidenceSummary::from_evidence(&changed);
                let trust = format!("Byte {at} was changed from {was} to {is}. Everything else is unchanged.");
                Some(view! {
                    <div id="broken">
                        <Verdicts report=report trust=trust told=told/>
                        <Checks checks=checks/>
                    </div>
                })
            })}
        </CollapsibleSection>
    }
}
