//! The texts of each page before its program has loaded: a title, a description for link previews, and the first words
//! on the page. If the page itself contains these words, both texts are identical.

use std::borrow::Cow;

/// The texts of a page.
pub struct Words {
    pub title: Cow<'static, str>,
    pub description: Cow<'static, str>,
    /// The text below the heading.
    pub lead: Cow<'static, str>,
}

impl Words {
    fn new(title: &'static str, description: &'static str, lead: &'static str) -> Self {
        Self { title: title.into(), description: description.into(), lead: lead.into() }
    }

    /// The texts of the front page.
    pub fn of_board() -> Self {
        Self::new(
            "Exit cost by pool | exitgap",
            super::site::DESCRIPTION,
            "The exit gap is how far below the oracle price a sale of your size really fills. It is recorded in every 5-minute \
             slot, computed exactly, and verified in your browser.",
        )
    }

    /// The texts of a pool's page; `pair` is the pool's name.
    pub fn of_pool(pair: &str) -> Self {
        let description = format!(
            "The price that a sale into {pair} really gets, compared with the oracle, at any size. Recomputed in your browser."
        );
        Self {
            title: format!("{pair}: exit gap, depth and slippage | exitgap").into(),
            description: description.into(),
            lead: "The price that a sale of any size gets here, compared with the oracle price. This browser computes it as you \
                   type, from the pool state recorded at the newest 5-minute slot, and compares it with the service's own answer. \
                   Depth, history and proof follow."
                .into(),
        }
    }

    /// The texts of an evidence page for a pool with this name, with the claim.
    pub fn of_evidence(pair: &str, claim: Option<String>) -> Self {
        let words = Self::new(
            "",
            "Recomputed from recorded depth and checked against a signed log, in your own browser.",
            "This browser fetches the file that proves a number: the pool's recorded state, and the path from there to the log \
             that its operator signed. It hashes that state, recomputes the number from it, and checks that the signed log \
             contains both. Then it compares the log with the version it saw before. It reports what it could not check. Only \
             these checks can confirm a number.",
        );
        let lead = match claim {
            Some(claim) => format!("{claim} {}", words.lead).into(),
            None => words.lead,
        };
        Self { title: format!("Evidence for {pair} | exitgap").into(), lead, ..words }
    }

    /// The texts of the not-found page.
    pub fn of_nothing() -> Self {
        let description = super::site::DESCRIPTION;
        Self::new("Page not found | exitgap", description, description)
    }

    /// The texts of a page with fixed texts, by its path.
    pub fn of_path(path: &str) -> Self {
        match path {
            "/verify" => Self::new(
                "Verify an evidence file | exitgap",
                "Verify a file in your browser. The file is not sent anywhere.",
                "Files never leave your browser. Once loaded, this page works offline, except for the check against the log version \
                 this browser saw before.",
            ),
            "/portfolio" => Self::new(
                "Portfolio | exitgap",
                "What you would receive for several positions at once, checked in your browser.",
                "What you would receive for everything at once. Positions that name a pool stay in this browser: it computes them from \
                 recorded snapshots, and the server learns only which pools you look at. Tokens are sold for cash in one plan, which \
                 the server searches. If you enter a token, it receives all positions.",
            ),
            "/accuracy" => Self::new(
                "Estimate accuracy | exitgap",
                "Each swap in the last seven days compared with its estimate. One row per pool, and no pool is left out.",
                "Each swap in the last seven days compared with the estimate from the last snapshot before it. An error is the \
                 realized gap minus the estimated gap. Above zero, the swap filled worse than estimated. Pools are not ranked, \
                 and no pool is left out.",
            ),
            "/equities" => Self::new(
                "Tokenized stocks | exitgap",
                "How pools of tokenized stocks trade while their exchange is open, after hours and over weekends.",
                "The status of each tokenized stock, and how its pools trade while its exchange is open, before and after hours and \
                 over weekends. Six weeks of data by session, and no single score: weekend liquidity matters to a holder, not to a \
                 day trader.",
            ),
            "/alerts" => Self::new(
                "Alerts | exitgap",
                "Your own alerts: the status and the events of each, with evidence for every value.",
                "Alerts stored by this service, checked every five minutes. Anyone with the rule and the public log can reproduce \
                 the result. Create an alert on a pool's page.",
            ),
            "/risk" => Self::new(
                "Risk report | exitgap",
                "Whether pools could have absorbed a liquidation in the worst slot of a week, with evidence for each number.",
                "If your collateral had to be sold at once in these pools, in the worst 5-minute slot of a week, could they have \
                 absorbed it, and at what loss?",
            ),
            path if path.starts_with("/exit/") => Self::new(
                "Where and when to exit | exitgap",
                "Where and when to sell a holding, with evidence for every number.",
                "Every recorded venue of the token is ranked by what your size would lose there. The page also shows the optimal \
                 split over all venues, the worst gap in each hour of the week, and the effect of waiting or redeeming. Each \
                 number has its evidence.",
            ),
            "/capabilities" => Self::new(
                "Capabilities | exitgap",
                "What this deployment can do: live, preview, roadmap.",
                "Live: runs on recorded data of live chains. Preview: built and usable, on preview data. Roadmap: specified, not \
                 built yet.",
            ),
            _ => Self::new(
                "How it works | exitgap",
                "How the exit gap is recorded, computed and verified, and what that does not prove.",
                "One number, from recorded state, that anyone can recompute.",
            ),
        }
    }
}
