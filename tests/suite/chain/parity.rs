//! Core compared with recorded results of the real contracts. `cargo xtask parity` asks the contracts themselves.

use exitgap_tests::parity::recorded;
use exitgap_tests::parity::vector::{Sale, Vector};

#[test]
fn kept_vectors_hold_without_a_contract() {
    let vectors = recorded::read_all().unwrap();
    assert!(vectors.len() >= 20, "only {} vectors", vectors.len());
    for (name, vector) in vectors {
        assert_eq!(vector.differences().unwrap(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_vector_with_another_sales_answer_is_noticed() {
    for (name, vector) in recorded::read_all().unwrap() {
        for (index, Sale { amount_in, .. }) in vector.sales.iter().enumerate() {
            let mut sales = vector.sales.clone();
            // The next sale's result differs, unless the contract rejects both in the same way.
            sales[index].expected = sales[(index + 1) % sales.len()].expected.clone();
            let changed = usize::from(sales != vector.sales);
            let tampered = Vector { sales, ..vector.clone() };
            let differences = tampered.differences().unwrap();
            assert_eq!(differences.len(), changed, "{name}, {amount_in}");
        }
    }
}
