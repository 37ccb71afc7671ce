//! The environment variable `LAMPREY_LOCK_ORDER`, read once.

use std::sync::OnceLock;

const NAME: &str = "LAMPREY_LOCK_ORDER";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderCheck {
    Report,
    Panic,
    Off,
}

fn mode() -> OrderCheck {
    static MODE: OnceLock<OrderCheck> = OnceLock::new();
    *MODE.get_or_init(|| {
        let Some(value) = std::env::var_os(NAME) else { return OrderCheck::Report };
        match value.to_str() {
            Some("panic") => OrderCheck::Panic,
            Some("off") => OrderCheck::Off,
            _ => {
                crate::bug::say!(
                    "{NAME} is {value:?}; set it to `panic` (a report becomes a panic) or `off`, or unset it"
                );
                std::process::exit(2)
            }
        }
    })
}

pub(super) fn is_off() -> bool {
    mode() == OrderCheck::Off
}

pub(super) fn is_panic() -> bool {
    mode() == OrderCheck::Panic
}

/// Reports a possible deadlock. During a panic it never panics again.
///
/// # Panics
/// If the environment asks for it.
pub(super) fn report(text: &str) {
    if is_panic() && !std::thread::panicking() {
        panic!("{text}");
    }
    #[cfg(not(loom))]
    if crate::sched::panic_hook::is_hushed() {
        return; // a run of a simulation among many, which fails if it is a deadlock
    }
    crate::bug::say!("{text}");
    crate::bug::say!("  ({NAME}=panic makes this a panic, with a backtrace; {NAME}=off turns it off)");
}
