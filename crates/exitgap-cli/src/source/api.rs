//! A service as a source: its recorded snapshots, from which answers are computed here.

use exitgap_api::operations::Operation;
use exitgap_api::{DepthWeek, Guards, PoolEntry, PoolList, PublishedExit};
use exitgap_client::{BaseUrl, Client, ClientError, Native, Transport};
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::units::SizeUsd;

use super::{FoundPool, unreadable};
use crate::failure::Failure;

/// Maximum number of pages of a pool list; a service returns a hundred pools per page.
const MAX_PAGES: usize = 50;

/// Downloads the pool's snapshot at the requested slot, or its newest one, and checks its hash.
pub fn find(
    url: &str,
    id: &PoolId,
    base: Option<&str>,
    at: Option<&str>,
) -> Result<FoundPool, Failure> {
    let at = at.map(|at| exitgap_api::slot_at("at", at).map(|_| at)).transpose()?;
    let recorded = with(url, async |client| client.recorded_selling(id, base, at).await)?;
    let documents =
        recorded.snapshot.to_canonical().map_err(|error| unreadable(error.to_string()))?;
    let mut lowest_depth_7d_usd = [None, None];
    let sold = recorded.default_direction.base_index();
    lowest_depth_7d_usd[sold].clone_from(&recorded.published.lowest_depth_7d_usd);
    let mut weeks: [DepthWeek; 2] = Default::default();
    weeks[sold].clone_from(&recorded.published.week);
    Ok(FoundPool {
        observation: recorded.snapshot.observation().clone(),
        provenance: recorded.provenance,
        default_base: Some(recorded.default_direction),
        lowest_depth_7d_usd,
        weeks,
        published: Some(recorded.published),
        documents: Some(documents),
    })
}

/// A service's published answer for a sale that meets the guards, recomputed here.
pub fn exit(
    url: &str,
    id: &PoolId,
    size: SizeUsd,
    base: Option<&str>,
    at: Option<&str>,
    guards: Guards,
) -> Result<PublishedExit, Failure> {
    let at = at.map(|at| exitgap_api::slot_at("at", at).map(|_| at)).transpose()?;
    with(url, async |client| {
        client.clone().with_guards(guards).recomputed_exit(id, size, base, at).await
    })
}

/// The failure for a service's answer that does not follow from its own snapshot.
pub fn not_as_specified(url: &str, path: &str, why: &str) -> Failure {
    let url = format!("{}{path}", url.trim_end_matches('/'));
    ClientError::NotAsSpecified { url, why: why.to_owned() }.into()
}

/// All pools of the service.
pub fn list_pools(url: &str, chain: Option<&ChainSlug>) -> Result<PoolList, Failure> {
    with(url, async |client| {
        let mut pools: Vec<PoolEntry> = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let page = client.pools(chain, cursors.last().map(String::as_str)).await?;
            pools.extend(page.pools);
            match page.next_cursor {
                Some(next) if cursors.contains(&next) => {
                    let url = format!("{}{}", client.base(), Operation::Pools.template());
                    let why = "its pages repeat".to_owned();
                    return Err(ClientError::NotAsSpecified { url, why });
                }
                Some(next) if cursors.len() + 1 < MAX_PAGES => cursors.push(next),
                next_cursor => return Ok(PoolList { pools, next_cursor }),
            }
        }
    })
}

/// Calls a service, and waits for the answer.
pub fn with<A>(
    url: &str,
    ask: impl AsyncFnOnce(&Client<Native>) -> Result<A, ClientError>,
) -> Result<A, Failure> {
    through(url, native()?, Guards::default(), ask)
}

/// The native HTTP transport.
pub fn native() -> Result<Native, Failure> {
    Ok(Native::new().map_err(|error| unreadable(error.to_string()))?)
}

/// The same through the caller's transport, for answers that meet the guards.
pub fn through<T: Transport, A>(
    url: &str,
    transport: T,
    guards: Guards,
    ask: impl AsyncFnOnce(&Client<T>) -> Result<A, ClientError>,
) -> Result<A, Failure> {
    let base: BaseUrl = url.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unreadable(error.to_string()))?;
    let client = Client::new(transport, base).with_guards(guards);
    runtime.block_on(ask(&client)).map_err(|error| {
        let hint = hint(&error);
        let mut failure = Failure::from(error);
        if let (Failure::Service { problem, .. }, Some(hint)) = (&mut failure, hint) {
            problem.hint.get_or_insert_with(|| hint.to_owned());
        }
        failure
    })
}

/// A hint for errors without one from the service.
fn hint(error: &ClientError) -> Option<&'static str> {
    Some(match error {
        ClientError::NotTrusted { .. } => {
            "the key given with --trust belongs to another log, or the service's log has changed"
        }
        ClientError::KeptUnusable { .. } => {
            "check that file in the folder given with --kept; fix it, or move it away to start again"
        }
        ClientError::PaymentRequired { .. } => {
            "`exitgap exit --pay` pays for one answer, within the budgets that you set"
        }
        ClientError::Problem(_) => return None,
        _ => "--api takes the address that `exitgap-server serve` listens on",
    })
}
