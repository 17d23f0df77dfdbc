//! Rules that the service stores for their owner, who authenticates with a token.

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{AFTER_SEQ, LIMIT};
use exitgap_api::{
    AlertEventsKept, AlertKept, AlertMade, AlertsKept, AlertsResent, StreamTicket, WebhookKeys,
};
use exitgap_core::ids::Code;
use serde_json::{Map, Value, json};

use crate::transport::Transport;
use crate::{Client, ClientError};

impl<T: Transport> Client<T> {
    /// `POST /v1/alerts`: stores a rule with the members of the operation. Without a token a new one is created, and
    /// returned only this once.
    pub async fn keep_alert(
        &self,
        rule: &Map<String, Value>,
        token: Option<&str>,
    ) -> Result<AlertMade, ClientError> {
        self.send_authorized(&Operation::KeepAlert.target(), token, Some(json!(rule).to_string()))
            .await
    }

    /// `GET /v1/alerts`: the rules of a token's owner.
    pub async fn kept_alerts(&self, token: &str) -> Result<AlertsKept, ClientError> {
        self.send_authorized(&Operation::Alerts.target(), Some(token), None).await
    }

    /// `GET /v1/alerts/{alert}`: one of the owner's rules.
    pub async fn kept_alert(&self, alert: Code, token: &str) -> Result<AlertKept, ClientError> {
        self.send_authorized(&Operation::Alert.target_of(alert.as_str()), Some(token), None).await
    }

    /// `DELETE /v1/alerts/{alert}`: ends a rule.
    pub async fn end_alert(&self, alert: Code, token: &str) -> Result<AlertKept, ClientError> {
        self.send_authorized(&Operation::EndAlert.target_of(alert.as_str()), Some(token), None)
            .await
    }

    /// `GET /v1/alerts/{alert}/events`: a rule's events after a given one.
    pub async fn alert_events(
        &self,
        alert: Code,
        after_seq: u32,
        limit: u32,
        token: &str,
    ) -> Result<AlertEventsKept, ClientError> {
        let target = Operation::AlertEvents.target_of(alert.as_str()).with(&AFTER_SEQ, after_seq);
        self.send_authorized(&target.with(&LIMIT, limit), Some(token), None).await
    }

    /// `POST /v1/alerts/{alert}/verify`: challenges a rule's webhook again.
    pub async fn ask_webhook(&self, alert: Code, token: &str) -> Result<AlertKept, ClientError> {
        self.send_authorized(&Operation::AskEndpoint.target_of(alert.as_str()), Some(token), None)
            .await
    }

    /// `POST /v1/alerts/{alert}/rotate`: changes the keys of a rule's webhook.
    pub async fn rotate_keys(&self, alert: Code, token: &str) -> Result<WebhookKeys, ClientError> {
        self.send_authorized(&Operation::RotateKeys.target_of(alert.as_str()), Some(token), None)
            .await
    }

    /// `POST /v1/alerts/ticket`: a ticket for a stream with the events of the owner's rules.
    pub async fn stream_ticket(&self, token: &str) -> Result<StreamTicket, ClientError> {
        let nothing = Some("{}".to_owned());
        self.send_authorized(&Operation::StreamTicket.target(), Some(token), nothing).await
    }

    /// `POST /v1/alerts/{alert}/replay`: sends a rule's events again, from a given one on.
    pub async fn send_again(
        &self,
        alert: Code,
        from_seq: u32,
        token: &str,
    ) -> Result<AlertsResent, ClientError> {
        let target = Operation::SendAgain.target_of(alert.as_str());
        self.send_authorized(&target, Some(token), Some(json!({"from_seq": from_seq}).to_string()))
            .await
    }
}
