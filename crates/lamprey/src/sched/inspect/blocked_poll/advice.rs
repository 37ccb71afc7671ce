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
/// Those of them that other types have without such a form, and the types with it; empty: the type is not known, or it is no method.
const ONLY_OF: &[(&str, &[&str])] = &[
    ("connect_timeout", &["", "TcpStream"]),
    ("lock", &["", "File", "Mutex"]),
    ("run", &["CancelToken"]),
    ("spawn", &["", "Command"]),
];
/// What the names of calls with a limit of time end with.
const LIMITED: [&str; 3] = ["_timeout", "_deadline", "_until"];

/// What to write in place of `call`.
pub(super) fn advice(call: &Call<'_>) -> String {
    let is_of = |of: &str| call.of.is_some_and(|it| it.starts_with(of) || it.ends_with(of));
    match call.name {
        "wait" if call.within == "wait" => "Write `.await` instead.".to_owned(),
        "join" => "Await the handle instead: `handle.await`.".to_owned(),
        // These are no futures themselves.
        "join_timeout" if is_of("SupervisorHandle") || is_of("Pending") => {
            "Write `with_timeout_async(limit, handle.into_future()).await` instead.".to_owned()
        }
        "join_timeout" => "Write `with_timeout_async(limit, handle).await` instead.".to_owned(),
        // A supervisor's is for a child, which has no handle.
        "cancel_and_join" if !is_of("SupervisorHandle") => "Write `handle.cancel(); handle.await` instead.".to_owned(),
        "sync" => "Await the event instead: `event.await`, or `select_async!` in place of `select!`.".to_owned(),
        "sync_timeout" => "Write `with_timeout_async(limit, event.into_future()).await` instead.".to_owned(),
        "next" if is_of("ReadDir") => "Write `next_entry_async().await` instead.".to_owned(),
        "next" if is_of("Incoming") || is_of("Lines") => "Write `next_async().await` in a loop instead.".to_owned(),
        "next" => "Write `recv_async().await` in a loop instead.".to_owned(),
        "acquire_owned" => "Write `acquire_owned_evt(n).await` instead.".to_owned(),
        "serve" if !is_of("Serving") => "Write `serving().serve_async(..).await` instead.".to_owned(),
        "deref" if is_of("LazyLock") => "Write `LazyLock::force_async(&it).await` instead.".to_owned(),
        name if has_form(call, name) => format!("Write `{name}_async(..).await` instead."),
        name => match LIMITED.iter().find_map(|end| name.strip_suffix(end)) {
            Some(name) if has_form(call, name) => {
                format!("Write `with_timeout_async(limit, {name}_async(..)).await` instead.")
            }
            _ => "It has no form for async code: make it in a `parasite_fn`, or on a host of its own (`spawn`).".to_owned(),
        },
    }
}

/// Whether what `call` is of has `name`, with `_async` behind it.
fn has_form(call: &Call<'_>, name: &str) -> bool {
    let only = ONLY_OF.iter().find(|(only, _)| *only == name);
    AWAITABLE.contains(&name) && only.is_none_or(|(_, types)| types.contains(&call.of.unwrap_or_default()))
}

#[cfg(test)]
mod tests;
