//! Parses and adds up the summaries of test runners.

/// Tests counted over all summary lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    /// Adds up the numbers before the runners' words.
    pub fn from_summaries(summaries: &[String]) -> Self {
        let mut counts = Self::default();
        for line in summaries {
            let words: Vec<&str> = line.split([' ', ';', ',', '(', ')']).collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            for pair in words.windows(2) {
                let Ok(number) = pair[0].parse::<u64>() else { continue };
                match pair[1] {
                    "passed" => counts.passed += number,
                    "failed" => counts.failed += number,
                    "skipped" | "ignored" => counts.skipped += number,
                    _ => {}
                }
            }
        }
        counts
    }
}

/// Whether this line is a test runner's summary.
pub fn is_summary(line: &str) -> bool {
    line.trim_start().starts_with("test result:")
}

/// Whether a summary is from a binary without tests.
pub fn is_empty(line: &str) -> bool {
    line.contains(" 0 passed; 0 failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_counted() {
        let lines = [
            "test result: FAILED. 11 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
        ];
        assert!(lines.iter().all(|line| is_summary(line)));
        let counts = Counts::from_summaries(&lines.map(str::to_owned));
        assert_eq!(counts, Counts { passed: 14, failed: 1, skipped: 3 });
        assert!(!is_summary("test devchain::plays ... ok"));
        assert!(is_empty("test result: ok. 0 passed; 0 failed; 0 ignored"));
    }
}
