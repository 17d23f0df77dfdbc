//! The check of the calendars of a chain's tokens.

use exitgap_core::hours::Calendar;
use exitgap_core::ids::Address;

use super::ChainReader;
use super::check::{CheckFinding, Severity, build_finding};

/// How long before the end of a calendar's table a warning is shown, so that there is time to update.
const WARN_BEFORE_S: u64 = 90 * 86_400;

impl ChainReader {
    /// Checks that each calendar's table covers the time after this block, and that its token belongs to a pool that is
    /// read.
    pub(super) fn check_calendars(&self, now: u64) -> Vec<CheckFinding> {
        let identities = self.memory.iter().filter_map(|memory| memory.identity.as_ref());
        let read: Vec<Address> = identities
            .flat_map(|identity| identity.tokens.iter().map(|token| token.address))
            .collect();
        let calendars = self.plan.calendars().iter();
        calendars.map(|(token, calendar)| judge(*token, calendar, &read, now)).collect()
    }
}

fn judge(token: Address, calendar: &Calendar, read: &[Address], now: u64) -> CheckFinding {
    let subject = format!("token {token}");
    let table = calendar.table();
    let ends = table.ends_at();
    let says = format!("{}, its market is now {}", calendar.code(), calendar.note(now));
    let (severity, message) = if !read.contains(&token) {
        (Severity::Warning, "is not in any pool that could be read; check its address".to_owned())
    } else if now >= ends {
        let message =
            "the calendar table has ended, so its market counts as closed; update exitgap";
        (Severity::Warning, format!("{says}; {message}"))
    } else if now + WARN_BEFORE_S >= ends {
        let days = (ends - now) / 86_400;
        let message =
            format!("{says}; the calendar table ends in {days} days; update exitgap before then");
        (Severity::Warning, message)
    } else {
        (Severity::Fine, says)
    };
    build_finding(severity, &subject, message)
}

#[cfg(test)]
mod tests {
    use exitgap_core::hours::{Hours, XNYS_1};

    use super::*;

    #[test]
    fn a_table_is_warned_of_ninety_days_before_its_end() {
        let token = Address([7; 20]);
        let calendar = Calendar::for_exchange("XNYS", Hours::Regular).unwrap();
        let at = |now: u64| judge(token, &calendar, &[token], now).to_string();
        let (ends, name) = (XNYS_1.ends_at(), format!("token {token}"));
        let warns = at(ends - WARN_BEFORE_S);
        assert!(warns.starts_with(&format!("warning: {name}: xnys, ")), "{warns}");
        assert!(
            warns.ends_with("the calendar table ends in 90 days; update exitgap before then"),
            "{warns}"
        );
        assert!(at(ends - WARN_BEFORE_S - 1).starts_with("ok: "));
        assert!(at(ends).contains("XNYS@1/unknown; the calendar table has ended"), "{}", at(ends));
        let elsewhere = judge(token, &calendar, &[], 0);
        assert_eq!(elsewhere.severity, Severity::Warning);
    }
}
