//! The statements on kept rules, each in a file of its own, with what it does in words.

use super::super::statements::statements;

statements! {
    ASK_AGAIN = "ask_again", "asking an endpoint again";
    COUNT_CHALLENGED = "count_challenged", "counting challenges";
    COUNT_EXPIRED = "count_expired", "counting rules";
    COUNT_LIVE = "count_live", "counting rules";
    COUNT_OF_CLIENT = "count_of_client", "counting rules";
    COUNT_OF_HOST = "count_of_host", "counting rules";
    COUNT_OF_TOKEN = "count_of_token", "counting rules";
    COUNT_PENDING = "count_pending", "counting deliveries";
    DELIVERED = "delivered", "noting a delivery";
    DISABLE_ENDPOINT = "disable_endpoint", "disabling an endpoint";
    END_ALERT = "end_alert", "ending a rule";
    ENDPOINT_ANSWERS = "endpoint_answers", "noting an answer";
    ENDPOINT_FAILS = "endpoint_fails", "noting a failure";
    EXPIRE = "expire", "ending rules";
    FORGET_ALERTS = "forget_alerts", "forgetting rules";
    FORGET_CHALLENGED = "forget_challenged", "forgetting challenges";
    FORGET_DELIVERIES = "forget_deliveries", "forgetting deliveries";
    FORGET_ENDPOINTS = "forget_endpoints", "forgetting endpoints";
    FORGET_EVENTS = "forget_events", "forgetting events";
    GIVE_UP = "give_up", "giving up a delivery";
    INSERT_ALERT = "insert_alert", "keeping a rule";
    INSERT_CHALLENGED = "insert_challenged", "noting a challenge";
    INSERT_DELIVERY = "insert_delivery", "writing a delivery";
    INSERT_ENDPOINT = "insert_endpoint", "keeping an endpoint";
    INSERT_EVENT = "insert_event", "writing an event";
    LEASE_CHALLENGE = "lease_challenge", "taking a challenge";
    LEASE_DELIVERY = "lease_delivery", "taking a delivery";
    NEXT_CHANGE = "next_change", "numbering a change";
    NOT_VERIFIED = "not_verified", "noting a challenge";
    POSTPONE_CHALLENGE = "postpone_challenge", "putting off a challenge";
    PUT_OFF = "put_off", "putting off a delivery";
    REACH_SLOT = "reach_slot", "noting a slot";
    RENEW = "renew", "renewing rules";
    ROTATE = "rotate", "changing keys";
    SELECT_ALERT = "select_alert", "reading a rule";
    SELECT_ALERTS = "select_alerts", "reading rules";
    SELECT_ASKED = "select_asked", "reading challenges";
    SELECT_CHANGED = "select_changed", "reading what changed";
    SELECT_COUNTER = "select_counter", "reading a counter";
    SELECT_COUNTS = "select_counts", "counting";
    SELECT_DUE = "select_due", "reading deliveries";
    SELECT_ENDPOINT = "select_endpoint", "reading an endpoint";
    SELECT_ENDPOINT_BY_ID = "select_endpoint_by_id", "reading an endpoint";
    SELECT_EVENTS = "select_events", "reading events";
    SELECT_MADE_BEFORE = "select_made_before", "reading a rule";
    SELECT_SAID_IN = "select_said_in", "reading events";
    SEND_AGAIN = "send_again", "sending again";
    UPDATE_RUN = "update_run", "writing a run";
    UPDATE_STATE = "update_state", "writing a state";
    VERIFIED = "verified", "noting a challenge";
}
