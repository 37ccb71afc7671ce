//! What to write instead of a blocking call, in async code.

use super::call::Call;

/// The calls whose form for async code has the same name with `_async` behind it.
#[rustfmt::skip]
const AWAITABLE: &[&str] = &[
    "accept", "accept_with_backoff", "acquire", "advise", "ask", "atomically", "attempt", "bind", "block", "call", "call_once",
    "canonicalize", "changed", "close", "compute", "connect", "connect_addr", "connect_timeout", "copy", "create", "create_dir",
    "create_dir_all", "create_new", "exists", "flush", "force", "get", "get_or_init", "get_or_try_init", "get_ref", "hard_link",
    "lock", "lock_shared", "lookup", "metadata", "open", "open_with", "output", "peek", "peek_from", "put", "read", "read_at",
    "read_dir", "read_exact", "read_exact_at", "read_line", "read_link", "read_to", "read_to_end", "read_to_string",
    "read_vectored", "readable", "recv", "recv_from", "remove_dir", "remove_dir_all", "remove_file", "rename", "run", "seek",
    "send", "send_to", "send_to_addr", "sendfile", "serve", "set_len", "set_modified", "set_permissions", "set_times", "sleep",
    "sleep_until", "spawn", "status", "suspend", "swap", "symlink", "symlink_metadata", "sync_all", "sync_data", "take", "tell",
    "tick", "try_block", "wait", "wait_with_output", "writable", "write", "write_all", "write_all_at", "write_at", "write_from",
    "write_vectored",
];
/// What the names of calls with a limit of time end with.
const LIMITED: [&str; 3] = ["_timeout", "_deadline", "_until"];

/// What to write in place of `call`.
pub(super) fn advice(call: &Call<'_>) -> String {
    let is_of = |of: &str| call.of.is_some_and(|it| it.starts_with(of) || it.ends_with(of));
    match call.name {
        "wait" if call.within == "wait" => "Write `.await` instead.".to_owned(),
        "join" => "Await the handle instead: `handle.await`.".to_owned(),
        "join_timeout" => "Write `with_timeout_async(limit, handle).await` instead.".to_owned(),
        "cancel_and_join" => "Write `handle.cancel(); handle.await` instead.".to_owned(),
        "sync" => "Await the event instead: `event.await`, or `select_async!` in place of `select!`.".to_owned(),
        "sync_timeout" => "Write `with_timeout_async(limit, event.into_future()).await` instead.".to_owned(),
        "next" if is_of("ReadDir") => "Write `next_entry_async().await` instead.".to_owned(),
        "next" if is_of("Incoming") || is_of("Lines") => "Write `next_async().await` in a loop instead.".to_owned(),
        "next" => "Write `recv_async().await` in a loop instead.".to_owned(),
        "acquire_owned" => "Write `acquire_owned_evt(n).await` instead.".to_owned(),
        "deref" if is_of("LazyLock") => "Write `LazyLock::force_async(&it).await` instead.".to_owned(),
        name if AWAITABLE.contains(&name) => format!("Write `{name}_async(..).await` instead."),
        name => match LIMITED.iter().find_map(|end| name.strip_suffix(end)) {
            Some(name) if AWAITABLE.contains(&name) => {
                format!("Write `with_timeout_async(limit, {name}_async(..)).await` instead.")
            }
            _ => "It has no form for async code: make it in a `parasite_fn`, or on a host of its own (`spawn`).".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::AWAITABLE;
    use std::collections::BTreeSet;
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

    fn names_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names_in(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("advice.rs") {
                let text = std::fs::read_to_string(path).unwrap();
                for part in text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(words) {
                    found.extend(part.strip_suffix("_async").map(str::to_owned));
                }
            }
        }
    }

    /// What a public function, or the function of a macro, is called.
    fn words(line: &str) -> Vec<&str> {
        let line = line.trim_start();
        let is_of_macro = line.split(' ').nth(1).is_some_and(|second| second.ends_with("_async"));
        let name =
            |text: &'_ str| text.find(|end: char| !end.is_alphanumeric() && end != '_').unwrap_or(text.len());
        match line.strip_prefix("pub ").map(|line| line.trim_start_matches("async ")) {
            Some(line) => line.strip_prefix("fn ").map(|line| &line[..name(line)]).into_iter().collect(),
            None if is_of_macro => line.split(' ').take(2).collect(),
            None => Vec::new(),
        }
    }

    #[test]
    fn all_async_forms_are_known_and_exist() {
        let mut found = BTreeSet::new();
        names_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let known: BTreeSet<String> = AWAITABLE.iter().chain(OWN).map(|&name| name.to_owned()).collect();
        assert!(AWAITABLE.is_sorted(), "{AWAITABLE:?}");
        let (missing, gone): (Vec<_>, Vec<_>) =
            (found.difference(&known).collect(), known.difference(&found).collect());
        assert!(
            missing.is_empty() && gone.is_empty(),
            "not in the table: {missing:?}; not in the crate: {gone:?}"
        );
    }
}
