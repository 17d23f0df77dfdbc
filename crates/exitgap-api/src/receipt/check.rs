//! Compares a signed receipt with an answer's bytes and with the evidence of its number.

use exitgap_core::evidence::Evidence;
use exitgap_core::ids::{Address, Word};
use sha2::{Digest, Sha256};

use super::{Receipt, ReceiptError};
use crate::operations::EvidenceOf;
use crate::x402::Terms;

impl Receipt {
    /// The hash of an answer's bytes in a receipt.
    pub fn name_of(answer: &[u8]) -> Word {
        Word(Sha256::digest(answer).into())
    }

    /// Requires that these bytes are the answer that was paid for.
    pub fn check_answer(&self, answer: &[u8]) -> Result<(), ReceiptError> {
        self.check_answer_named(Self::name_of(answer))
    }

    /// The same if only their SHA-256 is known.
    pub fn check_answer_named(&self, found: Word) -> Result<(), ReceiptError> {
        let expected = self.answer_sha256;
        if found == expected { Ok(()) } else { Err(ReceiptError::OtherAnswer { expected, found }) }
    }

    /// Requires that the receipt is for a payment of these terms by this payer.
    pub fn check_payment(&self, terms: &Terms, payer: Address) -> Result<(), ReceiptError> {
        let Self { network, asset, amount, payer: found, .. } = self;
        let pairs = [
            ("network", terms.network.to_string(), network.to_string()),
            ("asset", terms.asset.to_string(), asset.to_string()),
            ("amount", terms.amount.to_string(), amount.to_string()),
            ("payer", payer.to_string(), found.to_string()),
        ];
        match pairs.into_iter().find(|(_, expected, found)| expected != found) {
            Some((field, expected, found)) => {
                Err(ReceiptError::OtherPayment { field, expected, found })
            }
            None => Ok(()),
        }
    }

    /// Requires that the evidence has the snapshot of the answer, and the request of the receipt's `evidence_url`. It
    /// does not check whether the evidence is valid: [`Evidence::verify`] does.
    pub fn check_evidence(&self, evidence: &Evidence) -> Result<(), ReceiptError> {
        let unreadable = |why: &str| ReceiptError::NotEvidence { why: why.to_owned() };
        let snapshot = evidence.snapshot();
        let snapshot = snapshot.ok_or_else(|| unreadable("it has no snapshot of a known kind"))?;
        let documents = snapshot.to_canonical().map_err(|error| unreadable(&error.to_string()))?;
        let (expected, found) = (self.snapshot_hash, documents.hash());
        if found != expected {
            return Err(ReceiptError::OtherSnapshot { expected, found });
        }
        let Some(url) = &self.evidence_url else { return Ok(()) };
        let stated =
            evidence.statement().ok_or_else(|| unreadable("it does not state its request"))?;
        let asked = &stated.request;
        let found = format!(
            "{} of {} USD, {}, slot {}, method {}",
            asked.pool,
            asked.size_usd,
            asked.base.code(),
            asked.slot,
            asked.method_version
        );
        let expected = EvidenceOf::from_url(url).map(|of| {
            format!(
                "{} of {} USD, {}, slot {}, method {}",
                of.pool,
                of.size,
                of.base.code(),
                of.slot.number(),
                of.method_version
            )
        });
        match expected {
            Some(expected) if expected == found => Ok(()),
            Some(expected) => Err(ReceiptError::OtherEvidence { expected, found }),
            None => Err(ReceiptError::OtherEvidence { expected: super::shown(url), found }),
        }
    }
}
