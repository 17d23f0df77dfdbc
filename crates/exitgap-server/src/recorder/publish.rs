//! Step 4, publish: the slot's checkpoint is shown to witnesses, the log's folder gets its files, and those who wait for the
//! slot is notified.

use exitgap_store::{LogFolder, PublishError, PublishReport};

use super::source::SlotReader;
use super::{Recorder, RecorderError, SlotReport};

/// How a sealed slot was published.
pub struct Publication {
    /// Witnesses that cosigned it.
    pub cosigned: u32,
    /// Witnesses that were asked and did not, by name, each with the reason.
    pub not_cosigned: Vec<(String, String)>,
    /// Why it is not in the folder, where it should be.
    pub unpublished: Option<String>,
}

impl<R: SlotReader> Recorder<R> {
    /// Publishes the log in `folder`, after each slot. Refused where the store may not go on
    /// with what is published there; else what is left of earlier slots is published now.
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

    /// How many slots are published: in the folder, and synced.
    pub fn published_slots(&self) -> u64 {
        self.published
    }

    /// Shows the newest slot to witnesses and publishes it, whatever they answer.
    pub(super) async fn publish(&mut self) -> Result<Publication, RecorderError> {
        let (cosigned, not_cosigned) = self.cosign().await?;
        let unpublished = self.publish_newest().await?.err().map(|error| error.to_string());
        Ok(Publication { cosigned, not_cosigned, unpublished })
    }

    /// Publishes what the store has, where a folder is set.
    pub(super) async fn publish_newest(
        &mut self,
    ) -> Result<Result<(), PublishError>, RecorderError> {
        let Some(folder) = self.folder.clone() else { return Ok(Ok(())) };
        let published = self.store.run_blocking(move |store| folder.publish_newest(store)).await?;
        Ok(published.map(|published| self.published = published.size))
    }

    /// Notifies those who follow the slots of this recorder.
    pub(super) fn announce(&self, report: &SlotReport) {
        if let Some(told) = &self.told {
            told(report);
        }
        self.sealed.send_replace(Some(report.slot));
    }
}
