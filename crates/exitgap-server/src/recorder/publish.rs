//! Step 4, publish: submits the slot's checkpoint to the witnesses, writes the files to the log's folder, and notifies
//! the watchers of the slot.

use exitgap_store::{LogFolder, PublishError, PublishReport};

use super::source::SlotReader;
use super::{Recorder, RecorderError, SlotReport};

/// How a sealed slot was published.
pub struct Publication {
    /// Number of witnesses that cosigned it.
    pub cosigned: u32,
    /// Witnesses that were asked but did not cosign, by name, each with the reason.
    pub not_cosigned: Vec<(String, String)>,
    /// Why it is not in the folder although it should be.
    pub unpublished: Option<String>,
}

impl<R: SlotReader> Recorder<R> {
    /// Publishes the log in `folder` after each slot, and now everything that remains from earlier slots. Fails if the
    /// store may not continue the log that is published there.
    pub fn publish_in(&mut self, folder: LogFolder) -> Result<PublishReport, PublishError> {
        let published = match self.store.get_mut() {
            Ok(store) => {
                store.read_days_from(folder.clone());
                folder.check(store.reader())?;
                folder.publish(store.reader())?
            }
            Err(_) => PublishReport { size: 0, slots: 0 },
        };
        self.folder = Some(folder);
        self.published = published.size;
        Ok(published)
    }

    /// Number of slots in the folder and synced to disk.
    pub fn published_slots(&self) -> u64 {
        self.published
    }

    /// Submits the newest slot to the witnesses and publishes it, whatever they answer.
    pub(super) async fn publish(&mut self) -> Result<Publication, RecorderError> {
        let (cosigned, not_cosigned) = self.cosign().await?;
        let unpublished = self.publish_newest().await?.err().map(|error| error.to_string());
        Ok(Publication { cosigned, not_cosigned, unpublished })
    }

    /// Publishes what the store has, if a folder is set.
    pub(super) async fn publish_newest(
        &mut self,
    ) -> Result<Result<(), PublishError>, RecorderError> {
        let Some(folder) = self.folder.clone() else { return Ok(Ok(())) };
        let published = self.store.run_blocking(move |store| folder.publish_newest(store)).await?;
        Ok(published.map(|published| self.published = published.size))
    }

    /// Notifies the watchers of this recorder's slots.
    pub(super) fn announce(&self, report: &SlotReport) {
        if let Some(told) = &self.told {
            told(report);
        }
        self.sealed.send_replace(Some(report.slot));
    }
}
