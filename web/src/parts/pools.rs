//! The recorded pools, as the service lists them.

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::POOL_CURSOR;
use exitgap_client::{Browser, Client, ClientError};

use crate::document::Document;

/// Pages of the list that are read: what is chosen from is not endless.
const MOST_PAGES: usize = 4;

/// The pools of the list's first pages.
pub async fn listed_pools(client: &Client<Browser>) -> Result<Vec<Document>, ClientError> {
    let (mut pools, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let target = Operation::Pools.target().maybe(&POOL_CURSOR, cursor.as_ref());
        let list: Document = client.read(&target).await?;
        pools.extend(list.list("pools"));
        cursor = list.text("next_cursor");
        if cursor.is_none() {
            break;
        }
    }
    Ok(pools)
}

/// What a listed pool is called, by its tokens, venue and fee: hostile text. None where it has no snapshot yet.
pub fn name_of(pool: &Document) -> Option<String> {
    let symbol = |side| Some(pool.part(side)?.text_or_none("symbol"));
    let (base, quote) = (symbol("base")?, symbol("quote")?);
    Some(format!("{base} for {quote}, {}", pool.text_or_none("name")))
}
