//! What each page says before its program has come: a title, a description for those it is shared with, and the words
//! that a reader begins with. Where the page has such words of its own, they are these, letter by letter.

use std::borrow::Cow;

/// The words of a page.
pub struct Words {
    pub title: Cow<'static, str>,
    pub description: Cow<'static, str>,
    /// What is read under the heading.
    pub lead: Cow<'static, str>,
}

impl Words {
    fn new(title: &'static str, description: &'static str, lead: &'static str) -> Self {
        Self { title: title.into(), description: description.into(), lead: lead.into() }
    }

    /// Of the front page.
    pub fn of_board() -> Self {
        Self::new(
            "exitgap: where would your size lose most?",
            super::site::DESCRIPTION,
            "The exit gap is how far below the oracle price a sale of your size really fills. It is recorded every five minutes \
             (a slot), computed exactly, and checked in your browser.",
        )
    }

    /// Of a pool that is called so.
    pub fn of_pool(pair: &str) -> Self {
        let description = format!(
            "What selling into {pair} really fills at, against the oracle, at any size, recomputed in your browser."
        );
        Self {
            title: format!("{pair}: exit gap, depth and slippage | exitgap").into(),
            description: description.into(),
            lead: "What a sale of any size fills at here, against the oracle's price. This browser computes it as you type, from \
                   the pool's state as it was recorded at the newest slot, and holds it against the service's own answer. Depth, \
                   history and proof follow."
                .into(),
        }
    }

    /// Of the evidence of a result of a pool that is called so, with what it claims.
    pub fn of_evidence(pair: &str, claim: Option<String>) -> Self {
        let words = Self::new(
            "",
            "Recomputed from recorded depth and checked against a signed log, in your own browser.",
            "This browser fetches the file that proves a number: the pool's state as it was recorded, and the way from there \
             to the log that its operator signed. It hashes that state, computes the number again from it, and follows both \
             into the log. Then it compares the log with the state of it that it saw before. What it could not check, it \
             says; nothing but these checks may say that a number is confirmed.",
        );
        let lead = match claim {
            Some(claim) => format!("{claim} {}", words.lead).into(),
            None => words.lead,
        };
        Self { title: format!("Evidence for {pair} | exitgap").into(), lead, ..words }
    }

    /// Of an address at which there is no page.
    pub fn of_nothing() -> Self {
        let description = super::site::DESCRIPTION;
        Self::new("Nothing is at this address | exitgap", description, description)
    }

    /// Of the pages whose words are always the same, by their path.
    pub fn of_path(path: &str) -> Self {
        match path {
            "/verify" => Self::new(
                "Verify an evidence file | exitgap",
                "Check a file in your browser. The file is not sent anywhere.",
                "The file stays in this browser. Works offline once this page is loaded, but for one thing: that the file's log \
                 continues the state of it that this browser kept.",
            ),
            "/portfolio" => Self::new(
                "Portfolio | exitgap",
                "What exiting several positions at once would cost, computed in your browser.",
                "What it would cost to exit everything at once. Positions stay in this browser: they are computed here from \
                 recorded snapshots, and kept in the part of the address that is never sent. The server learns which pools you \
                 look at, as on any page.",
            ),
            "/accuracy" => Self::new(
                "How good were the estimates of all pools? | exitgap",
                "Every swap of the last seven days against what was estimated of it: a row for each pool, none left out.",
                "Every swap that a pool logged in the last seven days, against what was estimated of it from the newest slot \
                 before. An error is the realized gap less the estimated one: above zero, reality was worse. Nothing is ranked, \
                 and no pool is left out.",
            ),
            "/equities" => Self::new(
                "Shares on chains | exitgap",
                "How pools of tokenized shares trade while their exchange is open, after hours and over weekends.",
                "Where each tokenized share stands, and how its pools trade while its exchange is open, before and after hours and \
                 over weekends. A vector of six weeks, never one score: what is bad for a holder over a weekend is nothing to a desk \
                 that trades at noon.",
            ),
            "/alerts" => Self::new(
                "Alerts | exitgap",
                "Your own rules: where each stands and what it said, with evidence for every value.",
                "Rules that this service keeps for you. Each is evaluated with every slot that is sealed, and whoever has the \
                 rule and the published log computes the same. Make one on a pool's page.",
            ),
            "/risk" => Self::new(
                "Risk report | exitgap",
                "Whether pools would have taken a liquidation in the worst slot of a week, each number with its evidence.",
                "If your collateral had to be sold at once in these pools, in the worst slot of a week: would they have taken \
                 it, and at what loss?",
            ),
            path if path.starts_with("/exit/") => Self::new(
                "Where and when to exit | exitgap",
                "Where and when a holding is sold best, with evidence for every number.",
                "Every recorded venue of the token is ranked by what your size would lose there, beside the exact split over \
                 all of them, the worst of each hour of the week, and what waiting or redeeming would do. Each number has its \
                 evidence.",
            ),
            "/capabilities" => Self::new(
                "Capabilities | exitgap",
                "What this deployment can do: live, preview, roadmap.",
                "Live: on recorded data of live chains. Preview: built and usable, on preview data. Roadmap: specified, and not \
                 built.",
            ),
            _ => Self::new(
                "How it works | exitgap",
                "How the exit gap is recorded, computed and checked, and what that does not prove.",
                "One number, from recorded state, that anyone can recompute.",
            ),
        }
    }
}
