//! Answers for pools as wide as busy real ones, compared with the empty handler in the same process.

use std::sync::Arc;

use exitgap_store::Store;

use super::child::Served;
use super::generate::{append, key, slot};
use super::load::load;
use super::{TIME, Targets, failed, fillable, of_pools, one_by_one, tell};
use crate::BenchError;
use crate::effort::Effort;
use crate::market::{BUSY_TICKS, BusyPool};
use crate::report::Report;

/// Number of pools, chosen so that all their curves fit the service's cache.
const POOLS: Effort<u16> = Effort::new(50, 2);

/// Adds `http.exit_1200_ticks_rps` and `http.exit_1200_ticks_share`.
pub async fn measure(report: &mut Report) -> Result<(), BenchError> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("wide.db");
    let mut market: Vec<BusyPool> =
        (0..POOLS.get()).map(|number| BusyPool::real(number, BUSY_TICKS)).collect();
    let mut store = Store::create(&path, &key()?).map_err(failed)?;
    for index in 0..3 {
        append(&mut store, &mut market, slot(index)?)?;
    }
    store.close().map_err(failed)?;
    let served = Served::start(&path, slot(2)?, false)?;
    let all: Vec<String> = market.iter().map(|pool| pool.id.to_string()).collect();
    let able = fillable(served.address, &all).await?;
    let exit = of_pools(&able, |pool, n| format!("/v1/exit/{pool}?size_usd={}", 10 + n % 500));
    one_by_one(served.address, &exit, POOLS.get().into()).await?;
    let empty: Targets = Arc::new(|_| "/".to_owned());
    let words = format!("exit of pools of {BUSY_TICKS} ticks");
    let empty_rps = tell("empty", load(served.empty, &empty, TIME.get(), None).await?).rps;
    let bytes: Targets = Arc::new(|_| "/bytes".to_owned());
    let bytes_rps =
        tell("as many bytes, made before", load(served.empty, &bytes, TIME.get(), None).await?).rps;
    let exit_rps = tell(&words, load(served.address, &exit, TIME.get(), None).await?).rps;
    report.add("http.exit_1200_ticks_rps", exit_rps);
    report.add("http.exit_1200_ticks_share", exit_rps / empty_rps);
    report.add("http.bytes_share", bytes_rps / empty_rps);
    Ok(())
}
