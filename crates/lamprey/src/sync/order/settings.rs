//! The environment variable `LAMPREY_LOCK_ORDER`, read once.

use std::sync::OnceLock;

const NAME: &str = "LAMPREY_LOCK_ORDER";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Report,
    Panic,
    Off,
}

fn mode() -> Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    *MODE.get_or_init(|| {
        let Some(value) = std::env::var_os(NAME) else { return Mode::Report };
        match value.to_str() {
            Some("panic") => Mode::Panic,
            Some("off") => Mode::Off,
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
    mode() == Mode::Off
}

pub(super) fn is_panic() -> bool {
    mode() == Mode::Panic
}

/// Reports a possible deadlock. During a panic it never panics again.
///
/// # Panics
/// If the environment asks for it.
pub(super) fn report(text: &str) {
    if is_panic() && !std::thread::panicking() {
        panic!("{text}");
    }
    crate::bug::say!("{text}");
    crate::bug::say!("  ({NAME}=panic makes this a panic, with a backtrace; {NAME}=off turns it off)");
}
