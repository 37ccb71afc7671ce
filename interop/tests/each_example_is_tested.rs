//! The list of examples is the list of tests: none is left out by mistake.

use std::fs;
use std::path::Path;

fn stems(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut stems: Vec<_> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    stems.sort();
    stems
}

#[test]
fn each_example_is_run_by_the_test_of_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = stems(&folder.join("examples"));
    assert!(!examples.is_empty());
    for name in &examples {
        let test = folder.join("tests").join(name).with_extension("rs");
        let text = fs::read_to_string(&test).unwrap_or_else(|error| panic!("{}: {error}", test.display()));
        assert!(text.contains("#[test]"), "{}: no test", test.display());
        assert!(
            text.contains(&format!("example(\"{name}\")")),
            "{}: does not run the example",
            test.display()
        );
    }
}

#[test]
fn no_test_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mark = concat!("#[", "ignore");
    for name in stems(&folder) {
        let text = fs::read_to_string(folder.join(&name).with_extension("rs")).unwrap();
        assert!(!text.contains(mark), "tests/{name}.rs: a test that is ignored");
    }
}
