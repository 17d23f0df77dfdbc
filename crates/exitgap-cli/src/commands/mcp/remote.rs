//! Answers the tools from a service: estimates are computed here from its free snapshots, whose hashes are checked
//! here; time series and sales over several pools are passed on from the service; evidence and figure files are verified here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use exitgap_api::operations::parameters::{
    BASE, BOARD_SIZE, CHAIN, FROM, GAP, HISTORY_LIMIT, INTERVAL, LIMIT, MAX_AGE, MIN_DAYS, ORDER,
    POOL_CURSOR, RANK_CURSOR, REQUIRE, SERIES_SIZE, SORT, TO,
};
use exitgap_api::operations::{
    BoardAsked, CashAsked, ExitAsked, HistoryAsked, MaxSizeAsked, Operation, PoolsAsked, ProofOf,
    SimulationAsked, SnapshotAsked, SortBy, Target, VerificationAsked,
};
use exitgap_api::{
    Answer, AtOnce, CashExit, Fragility, GuardInputs, Guards, History, KeysFrom, LogContinuity,
    PoolList, Problem, Published, PublishedExit, PublishedLadder, PublishedMaxSize,
    PublishedSimulation, RowOrder, VerifiedBy, VerifiedEvidence,
};
use exitgap_client::{
    BaseUrl, Client, ClientError, Continuity, EvidenceOf, FetchedSnapshot, FigureVerification,
    LogState, LogWatch, Native, Since, Storage, TrustBasis, Verification,
};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::tlog::VerifierKey;
use exitgap_core::units::{GapLimit, SizeUsd};
use exitgap_mcp::Backend;

use crate::commands::ladder;
use crate::failure::Failure;
use crate::kept::Folder;
use crate::source::{now_s, unreadable};

/// A service.
pub struct Remote {
    client: Arc<Client<Native>>,
    keys: Vec<VerifierKey>,
    kept: Kept,
}

/// Where keys and checkpoints are stored between verifications.
#[derive(Clone)]
enum Kept {
    /// In memory, until this program ends.
    Here(Arc<Memory>),
    /// In a folder.
    Folder(PathBuf),
}

impl Remote {
    /// The service at `url`. Trusted keys are those given or stored; if there are none, those that the service returns
    /// on first use.
    pub fn new(url: &str, keys: Vec<VerifierKey>, kept: Option<PathBuf>) -> Result<Self, Failure> {
        let base: BaseUrl = url.parse()?;
        let transport = Native::new().map_err(|error| unreadable(error.to_string()))?;
        if let Some(path) = &kept {
            Folder::open(path)?;
        }
        let kept = kept.map_or_else(|| Kept::Here(Arc::default()), Kept::Folder);
        Ok(Self { client: Arc::new(Client::new(transport, base)), keys, kept })
    }

    /// The requested snapshot, hashed here, if it meets the guards.
    async fn fetch_snapshot(
        &self,
        asked: &SnapshotAsked,
    ) -> Result<(FetchedSnapshot, u64), Problem> {
        let SnapshotAsked { pool, base, at, guards } = asked;
        let at = at.map(|slot| slot.to_string());
        let recorded = self
            .client
            .recorded_selling(pool, base.as_deref(), at.as_deref())
            .await
            .map_err(ClientError::into_problem)?;
        let observation = recorded.snapshot.observation();
        let standing = GuardInputs::from_observation(observation, &recorded.provenance, now_s());
        guards.check(&standing)?;
        Ok((recorded, standing.age_s.unwrap_or_default()))
    }

    /// The answer as a service would publish it. The statements about the series are the service's own.
    fn publish<F>(
        &self,
        (recorded, age_s): &(FetchedSnapshot, u64),
        answer: Answer<F>,
        size_usd: Option<&str>,
    ) -> Published<F> {
        let published = recorded.published.clone();
        Published {
            answer,
            lowest_depth_7d_usd: published.lowest_depth_7d_usd,
            week: published.week,
            snapshot_age_s: *age_s,
            evidence_url: size_usd
                .and_then(|size_usd| Some(self.evidence_url(recorded, size_usd.parse().ok()?))),
            snapshot_url: published.snapshot_url,
            window_url: published.window_url,
            newer_heads_url: published.newer_heads_url,
        }
    }

    /// The URL of the evidence for a size.
    fn evidence_url(&self, recorded: &FetchedSnapshot, size: SizeUsd) -> String {
        let of = EvidenceOf {
            pool: recorded.snapshot.observation().pool().clone(),
            base: recorded.default_direction.into(),
            slot: recorded.snapshot.slot(),
            size,
            method_version: METHOD_VERSION.to_owned(),
        };
        // The snapshot was downloaded from there, so the URL is known.
        format!("{}{}", self.client.known_web(), of.target())
    }

    async fn get_document<D: serde::de::DeserializeOwned>(
        &self,
        target: Target,
    ) -> Result<D, Problem> {
        self.client.get_document(&target).await.map_err(ClientError::into_problem)
    }
}

/// The requested direction: the snapshot was downloaded for it.
fn direction(recorded: &FetchedSnapshot) -> Direction {
    recorded.default_direction
}

impl Backend for Remote {
    async fn list_pools(&self, asked: PoolsAsked) -> Result<PoolList, Problem> {
        let PoolsAsked { chain, after, limit } = asked;
        let target = Operation::Pools.target().maybe(&CHAIN, chain).with(&LIMIT, limit);
        self.get_document(target.maybe(&POOL_CURSOR, after)).await
    }

    async fn estimate_exit(&self, asked: ExitAsked) -> Result<PublishedExit, Problem> {
        let recorded = self.fetch_snapshot(&asked.snapshot).await?;
        let size = asked.size.to_string();
        let answers = recorded.0.answers(direction(&recorded.0));
        match answers.estimate(asked.size) {
            Ok(answer) => Ok(self.publish(&recorded, answer, Some(&size))),
            Err(problem) => {
                let evidence = || self.evidence_url(&recorded.0, asked.size);
                let evidence_url = problem.code.has_evidence().then(evidence);
                Err(Problem { evidence_url, ..problem })
            }
        }
    }

    async fn exit_into_cash(&self, asked: CashAsked) -> Result<CashExit, Problem> {
        let cash = self.client.cash(&asked).await.map_err(ClientError::into_problem)?;
        // The age is that of this machine's clock.
        let slot = Slot::new(cash.slot.into()).map_err(|error| unreadable(error.to_string()))?;
        asked.guards.check(&GuardInputs {
            status: cash.plan.status,
            recorded_slots: Some(cash.method.window.slots_recorded),
            age_s: Some(now_s().saturating_sub(slot.unix_s())),
        })?;
        Ok(cash)
    }

    async fn max_exit_size(&self, asked: MaxSizeAsked) -> Result<PublishedMaxSize, Problem> {
        let recorded = self.fetch_snapshot(&asked.snapshot).await?;
        // For a limit just above fee and basis, a search may take seconds.
        let (limit, search) = (asked.limit, recorded.0.clone());
        let found = run_blocking(move || search.answers(direction(&search)).max_size_for(limit));
        // If a search ended without an answer, the problem is about the limit, so name that parameter.
        let answer = found.await?.map_err(|problem| problem.field(GAP.name))?;
        let size = answer.figures.exit.as_ref().map(|exit| exit.size_usd.to_string());
        Ok(self.publish(&recorded, answer, size.as_deref()))
    }

    async fn simulate_orders(
        &self,
        asked: SimulationAsked,
    ) -> Result<PublishedSimulation, Problem> {
        let recorded = self.fetch_snapshot(&asked.snapshot).await?;
        let (plan, search) = (asked.plan, recorded.0.clone());
        let answer = run_blocking(move || search.answers(direction(&search)).simulate_orders(plan))
            .await??;
        let proven = match &answer.figures.at_once {
            AtOnce::Exit(_) => true,
            AtOnce::Problem(problem) => problem.code.has_evidence(),
        };
        let size = plan.size().to_string();
        Ok(self.publish(&recorded, answer, proven.then_some(size.as_str())))
    }

    async fn depth_ladder(&self, asked: SnapshotAsked) -> Result<PublishedLadder, Problem> {
        let recorded = self.fetch_snapshot(&asked).await?;
        let search = recorded.0.clone();
        let computed = run_blocking(move || {
            search.answers(direction(&search)).ladder(&GapLimit::LADDER, &SizeUsd::STANDARD)
        });
        let (computed, published) = (computed.await?, recorded.0.published);
        if !ladder::is_same(&published, &computed) {
            let why = "the service's ladder does not follow from its snapshot";
            return Err(unreadable(why));
        }
        Ok(PublishedLadder { snapshot_age_s: recorded.1, ..published })
    }

    async fn exit_history(&self, asked: HistoryAsked) -> Result<History, Problem> {
        let HistoryAsked { series, interval, order, limit } = asked;
        let Guards { max_age_s, min_days_observed, require_live } = series.guards;
        let instant = |slot: Option<Slot>| slot.map(|slot| slot.to_string());
        let target = Operation::History
            .target_of(&series.pool)
            .with(&SERIES_SIZE, series.size)
            .maybe(&BASE, series.base.as_deref())
            .maybe(&FROM, instant(series.from))
            .maybe(&TO, instant(series.to))
            .with(&INTERVAL, interval.code())
            .maybe(&ORDER, (order == RowOrder::Descending).then(|| order.code()))
            .with(&HISTORY_LIMIT, limit)
            .maybe(&MAX_AGE, max_age_s)
            .maybe(&MIN_DAYS, min_days_observed)
            .maybe(&REQUIRE, require_live.then_some("live"));
        let history: History = self.get_document(target).await?;
        if history.of.pool != series.pool.to_string() || history.of.size_usd != series.size.into() {
            return Err(unreadable("the service returned a series for different parameters"));
        }
        Ok(history)
    }

    async fn fragility_board(&self, asked: BoardAsked) -> Result<Fragility, Problem> {
        let BoardAsked { chain, sort_by, skip, limit } = asked;
        let (sort, size) = match sort_by {
            SortBy::Gap(size) => ("gap", SizeUsd::STANDARD.get(size)),
            SortBy::Score => ("score", None),
            SortBy::BookScore => ("book_score", None),
            SortBy::Depth => ("depth", None),
        };
        let target = Operation::Fragility.target().maybe(&CHAIN, chain).with(&SORT, sort);
        let target = target.maybe(&BOARD_SIZE, size).with(&LIMIT, limit);
        self.get_document(target.with(&RANK_CURSOR, skip)).await
    }

    async fn verify_evidence(&self, asked: VerificationAsked) -> Result<VerifiedEvidence, Problem> {
        let web = self.client.web().await.map_err(ClientError::into_problem)?;
        asked.require_host(&[&web.to_string(), &self.client.base().to_string()])?;
        let (client, keys, kept) = (self.client.clone(), self.keys.clone(), self.kept.clone());
        let runtime = tokio::runtime::Handle::current();
        // Verification takes a while, and only one task at a time may use a folder of stored keys.
        run_blocking(move || match kept {
            Kept::Here(memory) => runtime.block_on(verify(&client, &*memory, keys, asked)),
            Kept::Folder(path) => {
                runtime.block_on(verify_keeping(&client, &path, keys, asked)).map_err(to_problem)
            }
        })
        .await?
    }
}

/// Verifies evidence with the data stored in a folder. If reading it failed, there is no verdict.
async fn verify_keeping(
    client: &Client<Native>,
    path: &Path,
    keys: Vec<VerifierKey>,
    asked: VerificationAsked,
) -> Result<VerifiedEvidence, Failure> {
    let folder = Folder::open(path)?;
    let verified = verify(client, &folder, keys, asked).await;
    let kept = folder.end()?;
    let verified = verified?;
    kept?;
    Ok(verified)
}

async fn verify(
    client: &Client<Native>,
    storage: impl Storage,
    keys: Vec<VerifierKey>,
    asked: VerificationAsked,
) -> Result<VerifiedEvidence, Problem> {
    let VerificationAsked { url, of } = asked;
    let watch = LogWatch::new(client, storage, keys);
    let (verified, log) = match of {
        ProofOf::Exit(of) => {
            let verification = watch.verify_remote(&of, true).await;
            let verification = verification.map_err(ClientError::into_problem)?;
            let since = client.since(&of, &verification).await;
            let Verification { report, log, .. } = verification;
            let trusted = trusted(&log);
            let verified = VerifiedEvidence::from_report(url, report, VerifiedBy::Here, trusted);
            // Absent if the service does not report it.
            let taken_back = since.as_ref().ok().map(Since::is_taken_back);
            (VerifiedEvidence { taken_back, ..verified }, log)
        }
        ProofOf::Figure(of) => {
            let verification = watch.verify_figure(&of).await.map_err(ClientError::into_problem)?;
            let FigureVerification { bytes, report, consistency, log } = verification;
            let (file, trusted) = ((bytes.as_slice(), report), trusted(&log));
            let verified = VerifiedEvidence::from_figure(url, file, VerifiedBy::Here, trusted);
            let contradiction = log.contradiction.clone();
            (VerifiedEvidence { contradiction, ..verified }.with_check(&consistency), log)
        }
    };
    let continuity = Some(match log.continuity {
        Continuity::FirstSeen => LogContinuity::FirstSeen,
        Continuity::Continues => LogContinuity::Continues,
        Continuity::NotCompared => LogContinuity::NotCompared,
        Continuity::Contradicts => LogContinuity::Contradicts,
    });
    Ok(VerifiedEvidence { continuity, ..verified })
}

/// The keys that a verdict rests on, and why they are trusted.
fn trusted(log: &LogState) -> (Vec<String>, KeysFrom) {
    let keys = log.keys.iter().map(ToString::to_string).collect();
    let keys_from = match log.basis {
        TrustBasis::Named => KeysFrom::Named,
        TrustBasis::Kept => KeysFrom::Kept,
        TrustBasis::FirstUse => KeysFrom::FirstUse,
    };
    (keys, keys_from)
}

/// Runs slow work on a separate thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| unreadable(error.to_string()))
}

fn to_problem(failure: Failure) -> Problem {
    match failure {
        Failure::Problem(problem)
        | Failure::Service { problem, .. }
        | Failure::NotPaid { problem, .. }
        | Failure::Receipt { problem, .. } => *problem,
        Failure::Output(error) => unreadable(error.to_string()),
    }
}

/// Storage until the program ends, for concurrent calls.
#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<String, String>>);

impl Storage for Memory {
    fn get(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn put(&self, name: &str, text: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(name.to_owned(), text.to_owned());
    }
}
