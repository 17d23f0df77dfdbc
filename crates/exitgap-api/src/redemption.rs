//! Selling now beside redeeming later: terms as files have them, and the answer.

use exitgap_core::analytics::redemption::{
    self, Pays, REDEMPTION, RedemptionError, RedemptionTerms, Sold,
};
use exitgap_core::exit::{Exit, Refusal};
use exitgap_core::hours::{Calendar, Hours};
use exitgap_core::series::unix_s_of;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros, parse_scaled};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Answer, Number, Problem, ProblemCode};

/// The most bytes of a file of terms.
pub const MAX_TERMS_BYTES: usize = 16 << 10;

/// Terms as somebody read them, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedemptionTermsRead {
    /// The terms.
    pub terms: RedemptionTerms,
    /// Who may redeem.
    pub eligibility: String,
    /// Where they stand.
    pub source: String,
    /// When they were read, `YYYY-MM-DD`.
    pub read_on: String,
    /// The SHA-256 of the file, 0x-prefixed.
    pub sha256: String,
}

/// The file. Amounts are text: plain decimals.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    v: u32,
    kind: String,
    #[serde(default)]
    fee_pct: Option<String>,
    #[serde(default)]
    minimum_usd: Option<String>,
    #[serde(default)]
    capacity_usd: Option<String>,
    #[serde(default)]
    calendar: Option<String>,
    #[serde(default)]
    cutoff_before_close_s: Option<u32>,
    #[serde(default)]
    settlement_days: Option<[u8; 2]>,
    #[serde(default)]
    ahead_usd: Option<String>,
    #[serde(default)]
    per_day_usd: Option<[String; 3]>,
    eligibility: String,
    source: String,
    read_on: String,
}

impl RedemptionTermsRead {
    /// Reads a file of terms.
    ///
    /// ```
    /// # use exitgap_api::RedemptionTermsRead;
    /// let file = br#"{"v": 1, "kind": "on_days", "fee_pct": "0.1", "calendar": "XNYS",
    ///   "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
    ///   "eligibility": "holders who passed the issuer's checks",
    ///   "source": "https://issuer.example/redemptions", "read_on": "2026-11-20"}"#;
    /// assert_eq!(RedemptionTermsRead::read(file)?.terms.fee_e8, 100_000);
    /// # Ok::<(), exitgap_api::Problem>(())
    /// ```
    pub fn read(file: &[u8]) -> Result<Self, Problem> {
        if file.len() > MAX_TERMS_BYTES {
            return Err(wrong(&format!("a file of terms is at most {MAX_TERMS_BYTES} bytes")));
        }
        let of: File = serde_json::from_slice(file).map_err(|error| wrong(&error.to_string()))?;
        if of.v != 1 {
            return Err(wrong("v: this version reads 1"));
        }
        let fee =
            of.fee_pct.as_deref().map_or(Ok(0), |text| scaled("fee_pct", text, 100_000_000))?;
        let usd = |name: &str, text: &Option<String>| {
            text.as_deref().map(|text| scaled(name, text, MOST_USD).map(UsdMicros)).transpose()
        };
        let minimum = usd("minimum_usd", &of.minimum_usd)?.unwrap_or(UsdMicros(0));
        let capacity = usd("capacity_usd", &of.capacity_usd)?;
        let pays = of.pays()?;
        for (name, text) in
            [("eligibility", &of.eligibility), ("source", &of.source), ("read_on", &of.read_on)]
        {
            let is_plain = !text.is_empty() && text.chars().all(|c| !c.is_control());
            if !is_plain || text.chars().count() > 400 {
                return Err(wrong(&format!("{name}: 1 to 400 characters on one line")));
            }
        }
        if unix_s_of(&format!("{}T00:00:00Z", of.read_on)).is_err() {
            return Err(wrong("read_on: a date, as 2026-11-20"));
        }
        let fee_e8 = u32::try_from(fee).unwrap_or(u32::MAX);
        let terms = RedemptionTerms { pays, fee_e8, minimum, capacity };
        let hash: [u8; 32] = Sha256::digest(file).into();
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let File { eligibility, source, read_on, .. } = of;
        Ok(Self { terms, eligibility, source, read_on, sha256: format!("0x{hex}") })
    }
}

impl File {
    fn pays(&self) -> Result<Pays, Problem> {
        let on_days = self.calendar.is_some()
            || self.cutoff_before_close_s.is_some()
            || self.settlement_days.is_some();
        let in_turn = self.ahead_usd.is_some() || self.per_day_usd.is_some();
        match self.kind.as_str() {
            "at_once" if !on_days && !in_turn => Ok(Pays::AtOnce),
            "on_days" if !in_turn => self.on_days(),
            "in_turn" if !on_days => self.in_turn(),
            "at_once" | "on_days" | "in_turn" => {
                Err(wrong(&format!("kind: fields of another kind stand beside {}", self.kind)))
            }
            _ => Err(wrong("kind: at_once, on_days or in_turn")),
        }
    }

    fn on_days(&self) -> Result<Pays, Problem> {
        let name =
            self.calendar.as_deref().ok_or_else(|| wrong("calendar: of on_days, as XNYS"))?;
        let calendar = Calendar::of(name, Hours::Regular)
            .ok_or_else(|| wrong("calendar: none of that name is known; XNYS is"))?;
        let cutoff_before_close_s = self.cutoff_before_close_s.unwrap_or(0);
        if cutoff_before_close_s > 86_400 {
            return Err(wrong("cutoff_before_close_s: at most 86400, a day"));
        }
        let days =
            self.settlement_days.ok_or_else(|| wrong("settlement_days: of on_days, as [1, 2]"))?;
        if days[0] > days[1] || days[1] > 60 {
            return Err(wrong("settlement_days: the least and the most, at most 60"));
        }
        Ok(Pays::OnDays { calendar, cutoff_before_close_s, settlement_days: days })
    }

    fn in_turn(&self) -> Result<Pays, Problem> {
        let (Some(ahead), Some(per_day)) = (&self.ahead_usd, &self.per_day_usd) else {
            return Err(wrong("ahead_usd and per_day_usd: of in_turn"));
        };
        let ahead = UsdMicros(scaled("ahead_usd", ahead, MOST_USD)?);
        let mut paces = [UsdMicros(0); 3];
        for (pace, text) in paces.iter_mut().zip(per_day) {
            *pace = UsdMicros(scaled("per_day_usd", text, MOST_USD)?);
        }
        if !paces.is_sorted_by_key(|pace| pace.0) {
            return Err(wrong("per_day_usd: the least, the middle and the most, ascending"));
        }
        Ok(Pays::InTurn { ahead, per_day: paces })
    }
}

/// A thousand billion dollars.
const MOST_USD: u64 = 1_000_000_000_000_000_000;

/// A plain decimal of at most six decimals, in millionths.
fn scaled(name: &str, text: &str, most: u64) -> Result<u64, Problem> {
    let found = parse_scaled(text, 6, false).ok().and_then(|found| u64::try_from(found).ok());
    found.filter(|found| *found <= most).ok_or_else(|| {
        wrong(&format!("{name}: a plain decimal from 0 to {}, as text", UsdMicros(most)))
    })
}

fn wrong(detail: &str) -> Problem {
    let shown: String = detail.chars().filter(|c| !c.is_control()).take(200).collect();
    Problem::new(ProblemCode::InvalidParameter, format!("terms: {shown}")).field("terms").hint(
        "a JSON file: v, kind (at_once, on_days, in_turn), what the kind takes, eligibility, source and read_on",
    )
}

/// Selling a size now beside redeeming it: `GET /v1/redemption/{pool}`. **Modelled**: terms are what somebody read, and
/// nothing on a chain proves them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionWindow {
    /// The name and version of these rules, `redemption/1`.
    pub figure: String,
    /// Always `true`.
    pub modelled: bool,
    /// The size, USD.
    pub size_usd: Number,
    /// What selling it now brings, USD: `size_usd × (1 - exit_gap_pct)`, rounded down; `null` where it cannot be sold.
    pub receives_now_usd: Option<Number>,
    /// The gap of that sale, percent; `null` likewise.
    pub exit_gap_pct: Option<Number>,
    /// Why it cannot be sold at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// When it is handed in: the time of the snapshot's block, RFC 3339.
    pub handed_in_at: String,
    /// The ways of redeeming it; none where nobody wrote terms of the token down.
    pub paths: Vec<RedemptionPath>,
}

/// One way of redeeming a size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RedemptionPath {
    /// `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: after those who came before.
    pub kind: String,
    /// Why these terms do not take it: `below_minimum`, or `unknown_days` beyond the calendar's table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// What is kept of what is redeemed, percent.
    pub fee_pct: Number,
    /// The least that is redeemed, USD.
    pub minimum_usd: Number,
    /// The most, USD; `null`: as much as one likes.
    pub capacity_usd: Option<Number>,
    /// What is redeemed, USD: the size, or the capacity.
    pub redeemed_usd: Option<Number>,
    /// What is sold now beside that, USD.
    pub sold_usd: Option<Number>,
    /// What both bring, USD, at the oracle's price; `null` where the rest cannot be sold.
    pub receives_usd: Option<Number>,
    /// How long one waits at the least, seconds; `null`: nobody is paid.
    pub t_min_s: Option<u64>,
    /// The same at the most.
    pub t_max_s: Option<u64>,
    /// Of a queue: the same at its pace in the middle.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t_middle_s: Option<u64>,
    /// `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive, redeeming brings more.
    pub advantage_pct: Option<Number>,
    /// The advantage as a simple yearly rate, percent, over `t_min_s`: who can do without the money for less redeems. `null`
    /// of no wait.
    pub break_even_annual_pct_at_t_min: Option<Number>,
    /// The same over `t_max_s`.
    pub break_even_annual_pct_at_t_max: Option<Number>,
    /// Who may redeem, as the terms say.
    pub eligibility: String,
    /// Where the terms stand.
    pub terms_source: String,
    /// When they were read, `YYYY-MM-DD`.
    pub terms_read_on: String,
    /// The SHA-256 of the file of terms, 0x-prefixed.
    pub terms_sha256: String,
}

/// The answer to "sell now, or redeem later?".
pub type RedemptionWindowResult = Answer<RedemptionWindow>;

impl RedemptionWindow {
    /// Compares one sale with the terms.
    pub fn of(exit: &Exit, size: SizeUsd, terms: &[RedemptionTermsRead], at_s: u64) -> Self {
        let now = exit.estimate(size);
        let paths = terms.iter().map(|one| RedemptionPath::of(exit, size, one, at_s)).collect();
        let refusal = now.as_ref().err().map(refused);
        let gap = now.ok().map(|now| now.gap);
        Self {
            figure: REDEMPTION.to_owned(),
            modelled: true,
            size_usd: size.into(),
            receives_now_usd: gap.map(|gap| Number::from(Sold::of(size, gap).receives)),
            exit_gap_pct: gap.map(Number::from),
            refusal,
            handed_in_at: exitgap_core::series::rfc3339(at_s),
            paths,
        }
    }
}

fn refused(refusal: &Refusal) -> ProblemCode {
    Problem::from(refusal).code
}

impl RedemptionPath {
    fn of(exit: &Exit, size: SizeUsd, read: &RedemptionTermsRead, at_s: u64) -> Self {
        let RedemptionTermsRead { terms, eligibility, source, read_on, sha256 } = read;
        let found = redemption::redemption(exit, size, terms, at_s);
        let refusal = found.as_ref().err().map(|error| match error {
            RedemptionError::BelowMinimum { .. } => "below_minimum".to_owned(),
            RedemptionError::UnknownDays { .. } => "unknown_days".to_owned(),
        });
        let found = found.ok();
        let found = found.as_ref();
        let kind = match terms.pays {
            Pays::AtOnce => "at_once",
            Pays::OnDays { .. } => "on_days",
            Pays::InTurn { .. } => "in_turn",
        };
        let percent = |value: Option<Percent>| value.map(Number::from);
        Self {
            kind: kind.to_owned(),
            refusal,
            fee_pct: Percent(terms.fee_e8.into()).into(),
            minimum_usd: terms.minimum.into(),
            capacity_usd: terms.capacity.map(Number::from),
            redeemed_usd: found.map(|found| found.redeemed.into()),
            sold_usd: found
                .map(|found| found.beside.as_ref().map_or(UsdMicros(0), |(rest, _)| *rest).into()),
            receives_usd: found.and_then(|found| found.later).map(Number::from),
            t_min_s: found.and_then(|found| found.wait_s[0]),
            t_max_s: found.and_then(|found| found.wait_s[1]),
            t_middle_s: found.and_then(|found| found.wait_middle_s),
            advantage_pct: percent(found.and_then(|found| found.advantage)),
            break_even_annual_pct_at_t_min: percent(found.and_then(|found| found.break_even[0])),
            break_even_annual_pct_at_t_max: percent(found.and_then(|found| found.break_even[1])),
            eligibility: eligibility.clone(),
            terms_source: source.clone(),
            terms_read_on: read_on.clone(),
            terms_sha256: sha256.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"v": 1, "kind": "on_days", "fee_pct": "0.25", "minimum_usd": "100", "capacity_usd": "5000000",
        "calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
        "eligibility": "who passed the checks", "source": "https://issuer.example", "read_on": "2026-11-20"}"#;

    #[test]
    fn terms_are_read_as_written_and_named_by_their_bytes() {
        let read = RedemptionTermsRead::read(FILE.as_bytes()).unwrap();
        assert_eq!((read.terms.fee_e8, read.terms.minimum), (250_000, UsdMicros(100_000_000)));
        assert_eq!(read.terms.capacity, Some(UsdMicros(5_000_000_000_000)));
        let Pays::OnDays { settlement_days, cutoff_before_close_s, .. } = read.terms.pays else {
            panic!("on days")
        };
        assert_eq!((settlement_days, cutoff_before_close_s), ([1, 2], 3_600));
        let spaced = RedemptionTermsRead::read(FILE.replace(", ", ",  ").as_bytes()).unwrap();
        assert_eq!(spaced.terms, read.terms);
        assert_ne!(spaced.sha256, read.sha256);
        let queue = FILE.replace("on_days", "in_turn").replace(
            r#""calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],"#,
            r#""ahead_usd": "3000000", "per_day_usd": ["0", "1000", "2000.5"],"#,
        );
        let Pays::InTurn { per_day, .. } =
            RedemptionTermsRead::read(queue.as_bytes()).unwrap().terms.pays
        else {
            panic!("in turn")
        };
        assert_eq!(per_day[2], UsdMicros(2_000_500_000));
    }

    #[test]
    fn what_are_no_terms_is_refused_by_the_field() {
        for (from, to, said) in [
            ("\"v\": 1", "\"v\": 2", "v: this version"),
            ("\"v\": 1,", "", "missing field `v`"),
            ("on_days", "some_day", "kind: at_once"),
            ("on_days", "at_once", "kind: fields of another kind"),
            ("on_days", "in_turn", "kind: fields of another kind"),
            ("\"0.25\"", "\"101\"", "fee_pct"),
            ("\"0.25\"", "\"-1\"", "fee_pct"),
            ("\"0.25\"", "\"1e1\"", "fee_pct"),
            ("\"0.25\"", "0.25", "invalid type"),
            ("\"100\"", "\"1.0000001\"", "minimum_usd"),
            ("XNYS", "XPAR", "calendar"),
            ("3600", "86401", "cutoff_before_close_s"),
            ("3600", "-1", "invalid value"),
            ("[1, 2]", "[2, 1]", "settlement_days"),
            ("[1, 2]", "[1, 61]", "settlement_days"),
            ("[1, 2]", "[1]", "invalid length"),
            ("2026-11-20", "2026-02-30", "read_on"),
            ("2026-11-20", "yesterday", "read_on"),
            ("who passed the checks", "", "eligibility"),
            ("https://issuer.example", "a\\u001b[2Jb", "source"),
            ("\"source\"", "\"sauce\"", "unknown field"),
        ] {
            let changed = FILE.replacen(from, to, 1);
            assert_ne!(changed, FILE);
            let problem = RedemptionTermsRead::read(changed.as_bytes()).unwrap_err();
            assert!(problem.detail.contains(said), "{from} -> {to}: {}", problem.detail);
            assert_eq!(problem.field.as_deref(), Some("terms"));
        }
        let long = FILE.replace("who passed", &"x".repeat(MAX_TERMS_BYTES));
        assert!(RedemptionTermsRead::read(long.as_bytes()).unwrap_err().detail.contains("16384"));
        assert!(RedemptionTermsRead::read(b"\xff").is_err());
    }
}
