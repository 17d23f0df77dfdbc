//! The data of one contract in a node's answer, as a list of JSON records that can be changed and put back.
//!
//! A record is a log, a proof, a call's result, or a header: whatever the answer says about the contract, and nothing
//! about any other one. Answers about the chain have one record.

use alloy::primitives::{Address, Bytes, hex};
use alloy::sol_types::SolCall;
use serde_json::{Value, json};

use crate::devchain::abi::Multicall3::{Answer, aggregate3Call};

/// A request and its true result.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The request's method.
    pub method: &'a str,
    /// Its parameters.
    pub params: &'a Value,
    /// The result.
    pub result: &'a Value,
    /// The contract whose data is changed.
    pub contract: Address,
}

impl Asked<'_> {
    /// The records of the contract; `None` if the answer has none.
    pub fn records(&self) -> Option<Vec<Value>> {
        let found = match self.method {
            "eth_getLogs" => self
                .logs()?
                .iter()
                .filter(|log| self.is_of_contract(&log["address"]))
                .cloned()
                .collect(),
            "eth_call" => {
                let answers = self.answers()?;
                let own = self.called()?.into_iter().zip(answers);
                own.filter(|(is_own, _)| *is_own).map(|(_, answer)| of_answer(&answer)).collect()
            }
            "eth_getProof" if !self.is_of_contract(&self.params[0]) => Vec::new(),
            _ => vec![self.result.clone()],
        };
        Some(found).filter(|records: &Vec<Value>| !records.is_empty())
    }

    /// The result with these records in the place of the contract's own; `None` if it cannot have them.
    pub fn with_records(&self, records: Vec<Value>) -> Option<Value> {
        match self.method {
            "eth_getLogs" => {
                let own = |log: &Value| self.is_of_contract(&log["address"]);
                let logs = self.logs()?;
                let is_own = logs.iter().map(own).collect::<Vec<_>>();
                Some(Value::Array(in_place(logs.clone(), &is_own, records)))
            }
            "eth_call" => {
                let records: Option<Vec<Answer>> = records.iter().map(to_answer).collect();
                let answers = in_place(self.answers()?, &self.called()?, records?);
                let encoded = aggregate3Call::abi_encode_returns(&answers);
                Some(hex::encode_prefixed(encoded).into())
            }
            _ => Some(match <[Value; 1]>::try_from(records) {
                Ok([only]) => only,
                Err(none) if none.is_empty() => Value::Null,
                Err(several) => Value::Array(several),
            }),
        }
    }

    fn logs(&self) -> Option<&Vec<Value>> {
        self.result.as_array()
    }

    /// The results of the calls in one.
    fn answers(&self) -> Option<Vec<Answer>> {
        let bytes = hex::decode(self.result.as_str()?).ok()?;
        aggregate3Call::abi_decode_returns(&bytes).ok()
    }

    /// Of each of these calls, whether the contract is called.
    fn called(&self) -> Option<Vec<bool>> {
        let bytes = hex::decode(self.params[0]["data"].as_str()?).ok()?;
        let calls = aggregate3Call::abi_decode(&bytes).ok()?.calls;
        Some(calls.into_iter().map(|call| call.target == self.contract).collect())
    }

    fn is_of_contract(&self, address: &Value) -> bool {
        address.as_str().and_then(|text| text.parse().ok()) == Some(self.contract)
    }
}

/// The list with other items in the place of those that are the contract's.
fn in_place<T>(all: Vec<T>, is_own: &[bool], own: Vec<T>) -> Vec<T> {
    let last = is_own.iter().rposition(|own| *own);
    let mut own = own.into_iter();
    let mut list = Vec::with_capacity(all.len());
    for (at, item) in all.into_iter().enumerate() {
        match is_own.get(at) {
            Some(true) if Some(at) == last => list.extend(own.by_ref()),
            Some(true) => list.extend(own.next()),
            _ => list.push(item),
        }
    }
    list
}

fn of_answer(answer: &Answer) -> Value {
    json!({ "success": answer.success, "returnData": answer.returnData.to_string() })
}

/// A call's result, in which absent data is that of a call that reverted.
fn to_answer(record: &Value) -> Option<Answer> {
    let success = record["success"].as_bool().unwrap_or(false);
    match &record["returnData"] {
        Value::Null => Some(Answer { success: false, returnData: Bytes::new() }),
        Value::String(text) => Some(Answer { success, returnData: hex::decode(text).ok()?.into() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devchain::abi::Multicall3::Call3;

    const OWN: Address = Address::repeat_byte(7);
    const OTHER: Address = Address::repeat_byte(8);

    #[test]
    fn own_items_are_replaced_where_they_are() {
        let all = vec![1, 2, 3, 4, 5];
        let is_own = [false, true, false, true, false];
        assert_eq!(in_place(all.clone(), &is_own, vec![20, 40]), [1, 20, 3, 40, 5]);
        assert_eq!(in_place(all.clone(), &is_own, vec![20]), [1, 20, 3, 5]);
        assert_eq!(in_place(all.clone(), &is_own, vec![20, 40, 41]), [1, 20, 3, 40, 41, 5]);
        assert_eq!(in_place(all, &is_own, Vec::new()), [1, 3, 5]);
    }

    #[test]
    fn logs_and_calls_of_other_contracts_stay() {
        let logs = json!([{ "address": OTHER, "n": 1 }, { "address": OWN, "n": 2 }]);
        let asked =
            Asked { method: "eth_getLogs", params: &Value::Null, result: &logs, contract: OWN };
        assert_eq!(asked.records(), Some(vec![json!({ "address": OWN, "n": 2 })]));
        assert_eq!(asked.with_records(Vec::new()), Some(json!([{ "address": OTHER, "n": 1 }])));
        assert_eq!(Asked { contract: Address::ZERO, ..asked }.records(), None);

        let call = |target| Call3 { target, allowFailure: true, callData: Bytes::new() };
        let data = aggregate3Call { calls: vec![call(OTHER), call(OWN)] }.abi_encode();
        let params = json!([{ "data": hex::encode_prefixed(data) }, "0x1"]);
        let answer = |byte: u8| Answer { success: true, returnData: vec![byte; 32].into() };
        let told = aggregate3Call::abi_encode_returns(&vec![answer(1), answer(2)]);
        let result = Value::from(hex::encode_prefixed(told));
        let asked = Asked { method: "eth_call", params: &params, result: &result, contract: OWN };
        let records = asked.records().unwrap();
        assert_eq!(records, [of_answer(&answer(2))]);
        assert_eq!(asked.with_records(records), Some(result.clone()));
        let absent = asked.with_records(vec![json!({ "success": true })]).unwrap();
        let asked = Asked { result: &absent, ..asked };
        assert_eq!(asked.records().unwrap()[0]["success"], false);
    }
}
