//! How far up a reader has got, from what the operator signed to what the chain and others say, and whom they still have to trust.

use leptos::prelude::*;

/// What the chain's own state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OfChain {
    /// Nothing that was asked.
    #[default]
    Nothing,
    /// A block of this hash held the state.
    Proven,
    /// The same, and somebody of the reader's choice has that block.
    Named,
    /// Another state, or another block.
    Contradicts,
}

/// What the reader's witnesses say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OfWitnesses {
    /// Nothing that was asked, or not enough of them.
    #[default]
    Nothing,
    /// They cosigned.
    Cosigned,
    /// Somebody signed in their name.
    Forged,
}

/// The rungs that were reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rungs {
    /// By the chain.
    pub chain: OfChain,
    /// By witnesses.
    pub witnesses: OfWitnesses,
}

impl Rungs {
    /// The rung, by a word for programs.
    fn code(self) -> &'static str {
        match (self.chain, self.witnesses) {
            (OfChain::Contradicts, _) | (_, OfWitnesses::Forged) => "contradicted",
            (OfChain::Named, OfWitnesses::Cosigned) => "block_and_witnesses",
            (OfChain::Named, _) => "block",
            (_, OfWitnesses::Cosigned) => "witnesses",
            (OfChain::Proven, _) => "proof",
            (OfChain::Nothing, _) => "signed",
        }
    }

    /// What is left to trust, in a sentence.
    fn left(self) -> String {
        if self.code() == "contradicted" {
            return "Something below contradicts the record: do not rely on it.".to_owned();
        }
        let state = match self.chain {
            OfChain::Named => {
                "that those whom you asked for the block do not lie, and what is listed below"
            }
            OfChain::Proven => {
                "somebody's word that the chain has this block, and what is listed below"
            }
            _ => "the operator's word that the chain held this state",
        };
        let time = match self.witnesses {
            OfWitnesses::Cosigned => {
                "that your witnesses do not lie together about when it was there"
            }
            _ => {
                "the operator's word about when it was recorded, and that everybody sees the same log"
            }
        };
        format!("Left to trust: {state}; and {time}.")
    }
}

/// The sentence.
#[component]
pub fn Rung(
    /// What was reached so far.
    rungs: RwSignal<Rungs>,
) -> impl IntoView {
    view! {
        <p id="rung" role="status" data-rung=move || rungs.get().code()>{move || rungs.get().left()}</p>
    }
}
