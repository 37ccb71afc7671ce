//! `examples/tokio_cost.rs`: it runs, and prints a table. What it measures is not tested.

use interop::peer::{example, output};

#[test]
fn it_prints_a_table() {
    let text = output(example("tokio_cost").arg("50"));
    let rows: Vec<_> = text.lines().skip(2).collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(rows.iter().all(|row| row.matches(" ns |").count() >= 2), "{text}");
}
