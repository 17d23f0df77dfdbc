//! Redemption terms as stored in files: JSON, with amounts as strings.

use sha2::{Digest as _, Sha256};

use super::facts::MAX_FEE_DECIMALS;
use super::{ONE_HUNDRED_PERCENT, Pace, Pays, RedemptionAsset, RedemptionFacts, RedemptionTerms};
use crate::hours::{Calendar, Hours};
use crate::ids::{Address, Code, DocumentHash};
use crate::json::{Wire, parse_json, wire_struct};
use crate::series::unix_s_of;
use crate::units::{UsdMicros, parse_scaled};

/// The maximum size of a file of terms, in bytes.
pub const MAX_TERMS_BYTES: usize = 16 << 10;

/// Redemption terms with their source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedemptionTermsRead {
    /// The terms.
    pub terms: RedemptionTerms,
    /// The snapshot facts that replace numbers of the terms.
    pub facts: RedemptionFacts,
    /// Who is eligible to redeem.
    pub eligibility: String,
    /// Where the terms are published.
    pub source: String,
    /// The date on which someone read them, `YYYY-MM-DD`.
    pub read_on: String,
    /// The SHA-256 of the file.
    pub sha256: DocumentHash,
}

/// Terms with the pace of their queue, if its lengths were recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacedTerms {
    /// The terms.
    pub read: RedemptionTermsRead,
    /// The pace; `None` if it is not known or if the terms do not ask for it.
    pub pace: Option<Pace>,
}

/// Why a file is not a valid file of terms, with the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("terms: {0}")]
pub struct TermsError(String);

/// The file.
#[derive(Debug)]
struct File {
    v: u32,
    kind: String,
    fee_pct: Option<String>,
    minimum_usd: Option<String>,
    capacity_usd: Option<String>,
    calendar: Option<String>,
    cutoff_before_close_s: Option<u32>,
    settlement_days: Option<[u8; 2]>,
    ahead_usd: Option<String>,
    per_day_usd: Option<(String, String, String)>,
    capacity_fact: Option<Code>,
    ahead_fact: Option<Code>,
    fee_fact: Option<Code>,
    fee_fact_decimals: Option<u8>,
    paused_fact: Option<Code>,
    nav_fact: Option<Code>,
    capacity_asset_fact: Option<Code>,
    asset: Option<Address>,
    asset_decimals: Option<u8>,
    asset_usd: Option<String>,
    per_day_recorded: Option<bool>,
    eligibility: String,
    source: String,
    read_on: String,
}

wire_struct!(File {
    v, kind, eligibility, source, read_on;
    optional fee_pct, minimum_usd, capacity_usd, calendar, cutoff_before_close_s, settlement_days, ahead_usd, per_day_usd,
        capacity_fact, ahead_fact, fee_fact, fee_fact_decimals, paused_fact,
        nav_fact, capacity_asset_fact, asset, asset_decimals, asset_usd, per_day_recorded
});

impl RedemptionTermsRead {
    /// Reads a file of terms.
    ///
    /// ```
    /// # use exitgap_core::analytics::redemption::RedemptionTermsRead;
    /// let file = br#"{"v": 1, "kind": "on_days", "fee_pct": "0.1", "calendar": "XNYS",
    ///   "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
    ///   "eligibility": "holders who passed the issuer's checks",
    ///   "source": "https://issuer.example/redemptions", "read_on": "2026-11-20"}"#;
    /// assert_eq!(RedemptionTermsRead::from_json(file)?.terms.fee_e8, 100_000);
    /// # Ok::<(), exitgap_core::analytics::redemption::TermsError>(())
    /// ```
    pub fn from_json(file: &[u8]) -> Result<Self, TermsError> {
        if file.len() > MAX_TERMS_BYTES {
            return Err(wrong(&format!(
                "a file of terms must have at most {MAX_TERMS_BYTES} bytes"
            )));
        }
        let of: File = parse_json(file)
            .and_then(|json| Wire::from_json(&json))
            .map_err(|error| wrong(&error))?;
        if of.v != 1 {
            return Err(wrong("v: this version reads only 1"));
        }
        let fee = of
            .fee_pct
            .as_deref()
            .map_or(Ok(0), |text| parse_millionths("fee_pct", text, ONE_HUNDRED_PERCENT))?;
        let usd = |name: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| parse_millionths(name, text, MOST_USD).map(UsdMicros))
                .transpose()
        };
        let minimum = usd("minimum_usd", &of.minimum_usd)?.unwrap_or(UsdMicros(0));
        let capacity = usd("capacity_usd", &of.capacity_usd)?;
        let (pays, facts) = (of.pays()?, of.facts()?);
        for (name, text) in
            [("eligibility", &of.eligibility), ("source", &of.source), ("read_on", &of.read_on)]
        {
            let is_plain = !text.is_empty() && text.chars().all(|c| !c.is_control());
            if !is_plain || text.chars().count() > 400 {
                return Err(wrong(&format!("{name}: must be 1 to 400 characters on one line")));
            }
        }
        if unix_s_of(&format!("{}T00:00:00Z", of.read_on)).is_err() {
            return Err(wrong("read_on: must be a date such as 2026-11-20"));
        }
        let fee_e8 = u32::try_from(fee).unwrap_or(u32::MAX);
        let terms = RedemptionTerms { pays, fee_e8, minimum, capacity, worth: None };
        let sha256 = DocumentHash(Sha256::digest(file).into());
        let File { eligibility, source, read_on, .. } = of;
        Ok(Self { terms, facts, eligibility, source, read_on, sha256 })
    }
}

impl File {
    fn pays(&self) -> Result<Pays, TermsError> {
        let on_days = self.calendar.is_some()
            || self.cutoff_before_close_s.is_some()
            || self.settlement_days.is_some();
        let in_turn = self.ahead_usd.is_some()
            || self.per_day_usd.is_some()
            || self.ahead_fact.is_some()
            || self.per_day_recorded.is_some();
        match self.kind.as_str() {
            "at_once" if !on_days && !in_turn => Ok(Pays::AtOnce),
            "on_days" if !in_turn => self.on_days(),
            "in_turn" if !on_days => self.in_turn(),
            "at_once" | "on_days" | "in_turn" => Err(wrong(&format!(
                "kind: the file also has fields of a kind other than {}",
                self.kind
            ))),
            _ => Err(wrong("kind: must be at_once, on_days or in_turn")),
        }
    }

    /// The named facts. A number and a fact for the same value exclude each other.
    fn facts(&self) -> Result<RedemptionFacts, TermsError> {
        let capacities = [
            self.capacity_usd.is_some(),
            self.capacity_fact.is_some(),
            self.capacity_asset_fact.is_some(),
        ];
        if capacities.into_iter().filter(|is_given| *is_given).count() > 1 {
            return Err(wrong(
                "use only one of capacity_usd, capacity_fact and capacity_asset_fact",
            ));
        }
        if self.fee_pct.is_some() && self.fee_fact.is_some() {
            return Err(wrong("use only one of fee_pct and fee_fact"));
        }
        let fee = match (self.fee_fact, self.fee_fact_decimals) {
            (Some(name), Some(decimals)) if decimals <= MAX_FEE_DECIMALS => Some((name, decimals)),
            (None, None) => None,
            _ => {
                return Err(wrong(
                    "fee_fact and fee_fact_decimals are needed together, with decimals up to 36; a fee in \
                     ten-thousandths has 4",
                ));
            }
        };
        let recorded_pace = self.per_day_recorded == Some(true);
        if recorded_pace && self.ahead_fact.is_none() {
            return Err(wrong(
                "per_day_recorded: requires ahead_fact, whose recorded lengths it uses",
            ));
        }
        Ok(RedemptionFacts {
            capacity: self.capacity_fact,
            ahead: self.ahead_fact,
            fee,
            paused: self.paused_fact,
            nav: self.nav_fact,
            capacity_asset: self.capacity_asset_fact,
            asset: self.asset()?,
            recorded_pace,
        })
    }

    /// The asset that a redemption pays in, if a fact is in its units.
    fn asset(&self) -> Result<Option<RedemptionAsset>, TermsError> {
        let asset = match (self.asset, self.asset_decimals, &self.asset_usd) {
            (Some(token), None, None) => Some(RedemptionAsset::Token(token)),
            (None, Some(decimals), Some(usd)) if decimals <= MAX_FEE_DECIMALS => {
                let usd = UsdMicros(parse_millionths("asset_usd", usd, MOST_USD)?);
                if usd.0 == 0 {
                    return Err(wrong("asset_usd: must be above 0"));
                }
                Some(RedemptionAsset::Priced { decimals, usd })
            }
            (None, None, None) => None,
            _ => {
                return Err(wrong(
                    "use asset, a token of the pool, or both asset_decimals (up to 36) and asset_usd",
                ));
            }
        };
        let is_named = self.nav_fact.is_some() || self.capacity_asset_fact.is_some();
        if is_named != asset.is_some() {
            return Err(wrong(
                "asset, or asset_decimals and asset_usd, is needed with nav_fact or capacity_asset_fact, and only \
                 with those",
            ));
        }
        Ok(asset)
    }

    fn on_days(&self) -> Result<Pays, TermsError> {
        let name = self
            .calendar
            .as_deref()
            .ok_or_else(|| wrong("calendar: on_days requires a calendar such as XNYS"))?;
        let calendar = Calendar::for_exchange(name, Hours::Regular)
            .ok_or_else(|| wrong("calendar: unknown name; the known calendar is XNYS"))?;
        let cutoff_before_close_s = self.cutoff_before_close_s.unwrap_or(0);
        if cutoff_before_close_s > 86_400 {
            return Err(wrong("cutoff_before_close_s: must be at most 86400 (one day)"));
        }
        let days = self
            .settlement_days
            .ok_or_else(|| wrong("settlement_days: on_days requires a range such as [1, 2]"))?;
        if days[0] > days[1] || days[1] > 60 {
            return Err(wrong("settlement_days: must be a minimum and a maximum, at most 60"));
        }
        Ok(Pays::OnDays { calendar, cutoff_before_close_s, settlement_days: days })
    }

    fn in_turn(&self) -> Result<Pays, TermsError> {
        let ahead = match (&self.ahead_usd, self.ahead_fact) {
            (Some(text), None) => UsdMicros(parse_millionths("ahead_usd", text, MOST_USD)?),
            // A placeholder: the fact replaces it, and without the fact there is no answer.
            (None, Some(_)) => UsdMicros(0),
            _ => return Err(wrong("in_turn requires either ahead_usd or ahead_fact")),
        };
        let per_day = match (&self.per_day_usd, self.per_day_recorded) {
            (Some(per_day), None) => per_day,
            // A placeholder: the recorded pace replaces it, and without it there is no answer.
            (None, Some(true)) => return Ok(Pays::InTurn { ahead, per_day: [UsdMicros(0); 3] }),
            _ => {
                return Err(wrong("in_turn requires either per_day_usd or per_day_recorded true"));
            }
        };
        let mut paces = [UsdMicros(0); 3];
        let (least, middle, most) = per_day;
        for (pace, text) in paces.iter_mut().zip([least, middle, most]) {
            *pace = UsdMicros(parse_millionths("per_day_usd", text, MOST_USD)?);
        }
        if !paces.is_sorted_by_key(|pace| pace.0) {
            return Err(wrong(
                "per_day_usd: must be the lowest, middle and highest value, ascending",
            ));
        }
        Ok(Pays::InTurn { ahead, per_day: paces })
    }
}

/// One trillion dollars, in micro-dollars.
const MOST_USD: u64 = 1_000_000_000_000_000_000;

/// Parses a plain decimal with at most six decimals, in millionths.
fn parse_millionths(name: &str, text: &str, most: u64) -> Result<u64, TermsError> {
    let found = parse_scaled(text, 6, false).ok().and_then(|found| u64::try_from(found).ok());
    found.filter(|found| *found <= most).ok_or_else(|| {
        wrong(&format!(
            "{name}: must be a plain decimal from 0 to {}, written as text",
            UsdMicros(most)
        ))
    })
}

fn wrong(detail: &str) -> TermsError {
    TermsError(detail.chars().filter(|c| !c.is_control()).take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"v": 1, "kind": "on_days", "fee_pct": "0.25", "minimum_usd": "100", "capacity_usd": "5000000",
        "calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
        "eligibility": "who passed the checks", "source": "https://issuer.example", "read_on": "2026-11-20"}"#;

    #[test]
    fn terms_are_read_as_written_and_named_by_their_bytes() {
        let read = RedemptionTermsRead::from_json(FILE.as_bytes()).unwrap();
        assert_eq!((read.terms.fee_e8, read.terms.minimum), (250_000, UsdMicros(100_000_000)));
        assert_eq!(read.terms.capacity, Some(UsdMicros(5_000_000_000_000)));
        let Pays::OnDays { settlement_days, cutoff_before_close_s, .. } = read.terms.pays else {
            panic!("on days")
        };
        assert_eq!((settlement_days, cutoff_before_close_s), ([1, 2], 3_600));
        let spaced = RedemptionTermsRead::from_json(FILE.replace(", ", ",  ").as_bytes()).unwrap();
        assert_eq!(spaced.terms, read.terms);
        assert_ne!(spaced.sha256, read.sha256);
        let queue = FILE.replace("on_days", "in_turn").replace(
            r#""calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],"#,
            r#""ahead_usd": "3000000", "per_day_usd": ["0", "1000", "2000.5"],"#,
        );
        let Pays::InTurn { per_day, .. } =
            RedemptionTermsRead::from_json(queue.as_bytes()).unwrap().terms.pays
        else {
            panic!("in turn")
        };
        assert_eq!(per_day[2], UsdMicros(2_000_500_000));
    }

    #[test]
    fn a_fact_stands_in_place_of_a_number_and_not_beside_it() {
        const BY_FACTS: &str = r#"{"v": 1, "kind": "in_turn", "ahead_fact": "queue", "per_day_usd": ["0", "1", "2"],
            "fee_fact": "fee", "fee_fact_decimals": 4, "capacity_fact": "has", "paused_fact": "paused",
            "eligibility": "anybody", "source": "https://issuer.example", "read_on": "2026-11-20"}"#;
        let facts = RedemptionTermsRead::from_json(BY_FACTS.as_bytes()).unwrap().facts;
        let name = |name: &str| Some(name.parse::<Code>().unwrap());
        assert_eq!((facts.capacity, facts.ahead), (name("has"), name("queue")));
        assert_eq!((facts.fee.map(|fee| fee.1), facts.paused), (Some(4), name("paused")));
        let plain = RedemptionTermsRead::from_json(FILE.as_bytes()).unwrap().facts;
        assert_eq!(plain, RedemptionFacts::default());
        for (from, to, said) in [
            (
                "\"has\"",
                "\"has\", \"capacity_usd\": \"1\"",
                "only one of capacity_usd, capacity_fact",
            ),
            ("4,", "4, \"fee_pct\": \"1\",", "only one of fee_pct and fee_fact"),
            ("\"fee_fact_decimals\": 4,", "", "fee_fact and fee_fact_decimals"),
            ("\"fee_fact\": \"fee\",", "", "fee_fact and fee_fact_decimals"),
            (": 4,", ": 37,", "fee_fact and fee_fact_decimals"),
            ("\"queue\"", "\"queue\", \"ahead_usd\": \"1\"", "either ahead_usd or ahead_fact"),
            ("\"ahead_fact\": \"queue\",", "", "either ahead_usd or ahead_fact"),
            ("in_turn", "at_once", "kind: the file also has fields of a kind other"),
            ("\"has\"", "\"Has it\"", "a code must be 1 to 40"),
        ] {
            let changed = BY_FACTS.replacen(from, to, 1);
            assert_ne!(changed, BY_FACTS);
            let problem =
                RedemptionTermsRead::from_json(changed.as_bytes()).unwrap_err().to_string();
            assert!(problem.contains(said), "{from} -> {to}: {problem}");
        }
    }

    #[test]
    fn facts_in_an_asset_say_what_the_asset_is() {
        const VAULT: &str = r#"{"v": 1, "kind": "at_once", "nav_fact": "pays", "capacity_asset_fact": "held",
            "asset_decimals": 6, "asset_usd": "1.08",
            "eligibility": "anybody", "source": "https://vault.example", "read_on": "2026-11-20"}"#;
        let facts = RedemptionTermsRead::from_json(VAULT.as_bytes()).unwrap().facts;
        let asset = RedemptionAsset::Priced { decimals: 6, usd: UsdMicros(1_080_000) };
        assert_eq!((facts.asset, facts.recorded_pace), (Some(asset), false));
        let by_token = VAULT.replace(
            r#""asset_decimals": 6, "asset_usd": "1.08""#,
            &format!("\"asset\": \"{}\"", Address([7; 20])),
        );
        let facts = RedemptionTermsRead::from_json(by_token.as_bytes()).unwrap().facts;
        assert_eq!(facts.asset, Some(RedemptionAsset::Token(Address([7; 20]))));
        let queue = VAULT.replace("at_once", "in_turn").replace(
            r#""nav_fact": "pays", "capacity_asset_fact": "held",
            "asset_decimals": 6, "asset_usd": "1.08""#,
            r#""ahead_fact": "queue", "per_day_recorded": true"#,
        );
        let read = RedemptionTermsRead::from_json(queue.as_bytes()).unwrap();
        assert!(read.facts.recorded_pace && matches!(read.terms.pays, Pays::InTurn { .. }));
        for (file, from, to, said) in [
            (VAULT, "\"asset_usd\": \"1.08\"", "\"asset\": \"0x77\"", "asset"),
            (VAULT, "\"asset_decimals\": 6,", "", "use asset, a token of the pool"),
            (VAULT, "6,", "37,", "use asset, a token of the pool"),
            (VAULT, "1.08", "0", "asset_usd: must be above 0"),
            (VAULT, "1.08", "-1", "asset_usd: must be a plain decimal"),
            (VAULT, "\"pays\"", "\"pays\", \"capacity_usd\": \"1\"", "and capacity_asset_fact"),
            (
                VAULT,
                "\"asset_decimals\": 6, \"asset_usd\": \"1.08\",",
                "",
                "is needed with nav_fact",
            ),
            (
                VAULT,
                "\"nav_fact\": \"pays\", \"capacity_asset_fact\": \"held\",",
                "",
                "is needed with nav_fact",
            ),
            (
                VAULT,
                "6,",
                "6, \"per_day_recorded\": true,",
                "kind: the file also has fields of a kind other",
            ),
            (
                &queue,
                "\"ahead_fact\": \"queue\"",
                "\"ahead_usd\": \"1\"",
                "per_day_recorded: requires ahead_fact",
            ),
            (&queue, "true", "false", "either per_day_usd or per_day_recorded"),
            (
                &queue,
                "true",
                "true, \"per_day_usd\": [\"0\", \"1\", \"2\"]",
                "either per_day_usd or",
            ),
        ] {
            let changed = file.replacen(from, to, 1);
            assert_ne!(changed, file, "{from}");
            let problem =
                RedemptionTermsRead::from_json(changed.as_bytes()).unwrap_err().to_string();
            assert!(problem.contains(said), "{from} -> {to}: {problem}");
        }
    }

    #[test]
    fn what_are_no_terms_is_refused_by_the_field() {
        for (from, to, said) in [
            ("\"v\": 1", "\"v\": 2", "v: this version"),
            ("\"v\": 1,", "", "missing field `v`"),
            ("on_days", "some_day", "kind: must be at_once"),
            ("on_days", "at_once", "kind: the file also has fields of a kind other"),
            ("on_days", "in_turn", "kind: the file also has fields of a kind other"),
            ("\"0.25\"", "\"101\"", "fee_pct"),
            ("\"0.25\"", "\"-1\"", "fee_pct"),
            ("\"0.25\"", "\"1e1\"", "fee_pct"),
            ("\"0.25\"", "0.25", "expected"),
            ("\"100\"", "\"1.0000001\"", "minimum_usd"),
            ("XNYS", "XPAR", "calendar"),
            ("3600", "86401", "cutoff_before_close_s"),
            ("3600", "-1", "cutoff_before_close_s"),
            ("[1, 2]", "[2, 1]", "settlement_days"),
            ("[1, 2]", "[1, 61]", "settlement_days"),
            ("[1, 2]", "[1]", "settlement_days"),
            ("2026-11-20", "2026-02-30", "read_on"),
            ("2026-11-20", "yesterday", "read_on"),
            ("who passed the checks", "", "eligibility"),
            ("https://issuer.example", "a\\u001b[2Jb", "source"),
            ("\"source\"", "\"sauce\"", "missing field `source`"),
            ("\"v\": 1", "\"v\": 1, \"w\": 1", "unknown field `w`"),
        ] {
            let changed = FILE.replacen(from, to, 1);
            assert_ne!(changed, FILE);
            let problem =
                RedemptionTermsRead::from_json(changed.as_bytes()).unwrap_err().to_string();
            assert!(problem.contains(said), "{from} -> {to}: {problem}");
        }
        let long = FILE.replace("who passed", &"x".repeat(MAX_TERMS_BYTES));
        assert!(
            RedemptionTermsRead::from_json(long.as_bytes())
                .unwrap_err()
                .to_string()
                .contains("16384")
        );
        assert!(RedemptionTermsRead::from_json(b"\xff").is_err());
    }
}
