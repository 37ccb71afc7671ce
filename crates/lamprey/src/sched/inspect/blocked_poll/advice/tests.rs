//! Reads the sources to check that each name that is advised exists.

use super::{AWAITABLE, Call, ONLY_OF, advice};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Async calls that are not named after a blocking one, or have an advice of their own.
const OWN: &[&str] = &[
    "is_stream",
    "abandoned",
    "closed",
    "next",
    "next_entry",
    "select",
    "with_deadline",
    "with_timeout",
    "yield_now",
];

/// The functions of a type, which is empty for functions without one and those of macros; and whether a call may wait.
type Functions = BTreeMap<String, BTreeMap<String, bool>>;

/// Calls `with` with each source file of the crate.
fn for_each_source(folder: &Path, with: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            for_each_source(&path, with);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("advice.rs") {
            with(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

fn sources(mut with: impl FnMut(&Path, &str)) {
    for_each_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut with);
}

fn name_at_the_start(text: &str) -> &str {
    &text[..text.find(|end: char| !end.is_alphanumeric() && end != '_').unwrap_or(text.len())]
}

/// The name of the public function that begins on this line.
fn public_function(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub ")?;
    line.trim_start_matches("async ").strip_prefix("fn ").map(name_at_the_start)
}

/// What a public function, or the function of a macro, is called.
fn words(line: &str) -> Vec<&str> {
    let is_of_macro = line.trim_start().split(' ').nth(1).is_some_and(|second| second.ends_with("_async"));
    match public_function(line) {
        Some(name) => vec![name],
        None if is_of_macro => line.trim_start().split(' ').take(2).collect(),
        None => Vec::new(),
    }
}

#[test]
fn all_async_forms_are_known_and_exist() {
    let mut found = BTreeSet::new();
    sources(|_, text| {
        for part in text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(words) {
            found.extend(part.strip_suffix("_async").map(str::to_owned));
        }
    });
    let known: BTreeSet<String> = AWAITABLE.iter().chain(OWN).map(|&name| name.to_owned()).collect();
    assert!(AWAITABLE.is_sorted() && ONLY_OF.is_sorted(), "{AWAITABLE:?} {ONLY_OF:?}");
    let (missing, gone): (Vec<_>, Vec<_>) =
        (found.difference(&known).collect(), known.difference(&found).collect());
    assert!(
        missing.is_empty() && gone.is_empty(),
        "not in the table: {missing:?}; not in the crate: {gone:?}"
    );
}

/// The type of the implementation that begins on this line.
fn type_of_implementation(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("unsafe ").unwrap_or(line.trim_start()).strip_prefix("impl")?;
    let rest = rest.strip_prefix('<').map_or(rest, |rest| rest.split_once("> ").map_or("", |(_, rest)| rest));
    let of = rest.split(" for ").last().unwrap_or(rest).trim_start();
    Some(name_at_the_start(of))
}

/// The public functions of the crate. (Those of the scheduler kit, `trace`, hold up a kernel thread, and are not reported.)
fn public_functions() -> Functions {
    let mut found = Functions::new();
    sources(|path, text| {
        let (mut of, mut docs) = (String::new(), String::new());
        for line in text.lines().filter(|_| !path.components().any(|part| part.as_os_str() == "trace")) {
            if let Some(doc) = line.trim_start().strip_prefix("///") {
                docs += doc;
            } else if let Some(name) = public_function(line) {
                let waits = docs.split_once("# Blocking").map(|(_, says)| says.trim_start());
                let waits =
                    waits.is_some_and(|says| !says.starts_with("Never") && !says.starts_with("Does not"));
                *found.entry(of.clone()).or_default().entry(name.to_owned()).or_default() |= waits;
            } else if line.starts_with('}') {
                of.clear();
            } else if let Some(name) = type_of_implementation(line).filter(|_| !line.ends_with('}')) {
                name.clone_into(&mut of);
            }
            if !line.trim_start().starts_with(['/', '#']) {
                docs.clear();
            }
        }
    });
    found
}

/// Names in the advice that are of no type.
const OF_THE_CRATE: &[&str] = &["select_async", "with_timeout_async"];

#[test]
fn what_is_advised_is_there_for_the_type_of_the_call() {
    let all = public_functions();
    assert!(all.len() > 50 && all["Supervisor"]["run"] && all[""]["sleep"], "{all:?}");
    let has = |of: &str, name: &str| all.get(of).is_some_and(|names| names.contains_key(name));
    let mut wrong = Vec::new();
    for (of, names) in &all {
        for name in names.iter().filter(|(_, waits)| **waits).map(|(name, _)| name) {
            let of_type = Some(&**of).filter(|of| !of.is_empty());
            // Most functions without a type are in a file of their name.
            let call = Call { of: of_type, within: of_type.unwrap_or(name), name };
            let advice = advice(&call);
            let advised = advice.split(|end: char| !end.is_alphanumeric() && end != '_');
            let mut advised = advised.filter(|word| word.ends_with("_async") && !OF_THE_CRATE.contains(word));
            // A listener's server is a type of its own.
            let of = if advice.contains("`serving().") { "Serving" } else { of };
            if !advised.all(|word| has(of, word) || has("", word)) {
                wrong.push(format!("{of}::{name}: {advice}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Which call, of what, and a part of the advice.
const PARTICULAR: &[(&str, &str, &str)] = &[
    ("", "run", "no form"),
    ("Runtime", "run", "no form"),
    ("CancelToken", "run", "`run_async(..).await`"),
    ("TcpStream", "connect_timeout", "`connect_timeout_async(..).await`"),
    ("TcpSocket", "connect_timeout", "`with_timeout_async(limit, connect_async(..)).await`"),
    ("Mutex", "lock", "`lock_async(..).await`"),
    ("Stdin", "lock", "no form"),
    ("Command", "spawn", "`spawn_async(..).await`"),
    ("Scope", "spawn", "no form"),
    ("JoinHandle", "join_timeout", "limit, handle)"),
    ("TcpListener", "serve", "`serving().serve_async(..).await`"),
    ("Serving", "serve", "Write `serve_async(..).await`"),
    ("SupervisorHandle", "join_timeout", "limit, handle.into_future())"),
    ("SupervisorHandle", "cancel_and_join", "no form"),
];

#[test]
fn types_are_told_apart() {
    for &(of, name, part) in PARTICULAR {
        let advice = advice(&Call { of: Some(of).filter(|of| !of.is_empty()), within: of, name });
        assert!(advice.contains(part), "{of}::{name}: {advice}");
    }
}

/// What advices of their own say, as the compiler reads it.
#[expect(dead_code, reason = "only compiled")]
async fn advices_of_their_own(
    host: crate::JoinHandle<()>,
    supervisor: crate::scope::SupervisorHandle<()>,
    pending: crate::event::Pending<()>,
    names: &mut crate::fs::ReadDir,
    lines: &mut crate::io::Lines,
    incoming: &mut crate::net::Incoming<'_, crate::net::TcpListener>,
    semaphore: std::sync::Arc<crate::sync::Semaphore>,
) {
    use crate::sleep::with_timeout_async;
    use std::future::IntoFuture;
    let limit = std::time::Duration::MAX;
    host.cancel();
    let _ = with_timeout_async(limit, host).await;
    let _ = with_timeout_async(limit, supervisor.clone().into_future()).await;
    let _ = supervisor.await;
    let _ = with_timeout_async(limit, pending.into_future()).await;
    let _ = names.next_entry_async().await;
    let _ = lines.next_async().await;
    let _ = incoming.next_async().await;
    let _ = semaphore.acquire_owned_evt(1).await;
    let _ = crate::sync::LazyLock::<u8>::force_async;
    let _ = (crate::parasite_fn::<fn(), ()>, crate::spawn::<fn(), ()>);
}
