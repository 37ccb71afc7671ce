//! `examples/sqlx_sqlite.rs` on a file.

use interop::peer::{Running, example, output};

#[test]
fn many_hosts_move_money_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bank.db");
    for _ in 0..2 {
        let text = output(example("sqlx_sqlite").arg(&file).arg("100"));
        assert!(text.contains("by 100 hosts; 1000 in all accounts"), "{text}");
    }
}

#[test]
fn a_file_that_cannot_be_is_said() {
    let (status, text) = Running::start(example("sqlx_sqlite").arg("/no/such/folder/bank.db")).end();
    assert!(!status.success());
    assert!(
        text.contains("/no/such/folder/bank.db: ") && text.contains("unable to open database file"),
        "{text}"
    );
}
