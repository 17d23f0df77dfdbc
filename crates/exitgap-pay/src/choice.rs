//! Which of a 402's offers is accepted, if any.

use exitgap_api::x402::{Offer, Offers, PlainOffer, Units, Version, X402Error};

use crate::usdc::DECIMALS;
use crate::{Asset, PayError, Policy};

/// The accepted offer: the first that the policy allows, version 2 before version 1. All offers of an answer must ask
/// for the same payment: a service that shows one price and requests a signature for another is faulty or malicious.
pub fn choose(policy: &Policy, offers: Offers) -> Result<Offer, PayError> {
    let Offers { v2, v1, plain } = offers;
    let ((v2, other_v2), (v1, other_v1)) = (payable(v2)?, payable(v1)?);
    let mut refusal = None;
    for offer in v2.iter().chain(&v1) {
        match policy.allows(&offer.terms) {
            Ok(_) if offer.terms.amount == Units(0) => {
                let why = "the price is zero".to_owned();
                return Err(PayError::OfferUnreadable(why));
            }
            Ok(asset) => {
                agree(offer, [&v2, &v1], plain.as_ref(), asset)?;
                return Ok(offer.clone());
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.unwrap_or_else(|| {
        PayError::OfferUnreadable(match other_v2.or(other_v1) {
            Some(error) => error.to_string(),
            None if plain.is_some() => "it only offers a transfer".to_owned(),
            None => "there is no offer".to_owned(),
        })
    }))
}

/// The payable offers, or why one cannot be accepted. Other kinds of payment are skipped; if an offer claims to be of
/// this kind but cannot be parsed, all are rejected.
fn payable(
    offers: Vec<Result<Offer, X402Error>>,
) -> Result<(Vec<Offer>, Option<X402Error>), PayError> {
    let (mut payable, mut other) = (Vec::new(), None);
    for offer in offers {
        match offer {
            Ok(offer) => payable.push(offer),
            Err(
                error @ (X402Error::Scheme { .. } | X402Error::Network { .. } | X402Error::Domain),
            ) => other = other.or(Some(error)),
            Err(error) => return Err(unreadable(error)),
        }
    }
    Ok((payable, other))
}

/// The error for an offer that cannot be parsed.
pub fn unreadable(error: X402Error) -> PayError {
    match error {
        X402Error::Amount { .. } => PayError::AmountUnreadable(error),
        other => PayError::OfferUnreadable(other.to_string()),
    }
}

fn agree(
    chosen: &Offer,
    versions: [&Vec<Offer>; 2],
    plain: Option<&PlainOffer>,
    asset: &Asset,
) -> Result<(), PayError> {
    let terms = &chosen.terms;
    let inconsistent = |why: String| Err(PayError::OfferInconsistent { why });
    for offers in versions {
        let same_token = |offer: &&Offer| {
            (offer.terms.network, offer.terms.asset) == (terms.network, terms.asset)
        };
        let others: Vec<&Offer> = offers.iter().filter(same_token).collect();
        if others.is_empty() && !offers.is_empty() {
            let number = number(offers[0].version());
            return inconsistent(format!("version {number} is for another chain or token"));
        }
        let differs = |other: &&Offer| !other.terms.is_same_payment(terms);
        if let Some(other) = others.into_iter().find(differs) {
            let (number, other) = (number(other.version()), &other.terms);
            return inconsistent(format!(
                "version {number} asks for {} units to {}, but version {} asks for {} to {}",
                other.amount,
                other.pay_to,
                self::number(chosen.version()),
                terms.amount,
                terms.pay_to
            ));
        }
    }
    let Some(plain) = plain else { return Ok(()) };
    let PlainOffer { amount, currency, network, recipient } = plain;
    let units = Units::of_tokens("x-payment-amount", amount, DECIMALS)
        .map_err(PayError::AmountUnreadable)?;
    let same = (units, network, recipient) == (terms.amount, &terms.network, &terms.pay_to);
    if same && *currency == asset.symbol {
        return Ok(());
    }
    inconsistent(format!(
        "the plain headers ask for {amount} {currency} on {network} to {recipient}, but version {} asks for {} {} \
         on {} to {}",
        number(chosen.version()),
        terms.amount.in_tokens(DECIMALS),
        asset.symbol,
        terms.network,
        terms.pay_to
    ))
}

fn number(version: Version) -> u8 {
    match version {
        Version::V1 => 1,
        Version::V2 => 2,
    }
}
