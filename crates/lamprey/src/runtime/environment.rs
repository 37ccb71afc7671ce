//! The settings that a runtime takes from the environment, a row for each variable.

use super::builder::RuntimeBuilder;
use super::duration;
use crate::driver::backend::Io;
use crate::sched::affinity::{self, Affinity};
use crate::thread::{Panics, stack_size};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A variable, what its value must be, and how it is set; `None` if the value is something else.
type Row = (&'static str, &'static str, fn(&mut RuntimeBuilder, &str) -> Option<()>);

const TIME: &str = "a time such as 10ms or 3s";
const THREADS: &str = "a number of at least 1";
const SWITCH: &str = "`on` or `off`";

const VARIABLES: [Row; 18] = [
    ("LAMPREY_WORKERS", "a number from 1 to 1024", |builder, text| {
        builder.workers = text.parse().ok().filter(|number| (1..=1024).contains(number))?;
        Some(())
    }),
    (stack_size::VARIABLE, stack_size::EXPECTED, |builder, text| {
        builder.stack_size = Some(stack_size::parse(text)?);
        Some(())
    }),
    ("LAMPREY_BLOCKING_THREADS", THREADS, |builder, text| {
        builder.pools.blocking = threads(text)?;
        Some(())
    }),
    ("LAMPREY_BLOCKING_QUEUE", "a number", |builder, text| {
        builder.pools.queue = text.parse().ok()?;
        Some(())
    }),
    ("LAMPREY_FILE_THREADS", THREADS, |builder, text| {
        builder.pools.files = Some(threads(text)?);
        Some(())
    }),
    ("LAMPREY_LOOKUP_THREADS", THREADS, |builder, text| {
        builder.pools.lookups = Some(threads(text)?);
        Some(())
    }),
    ("LAMPREY_COMPUTE_THREADS", THREADS, |builder, text| {
        builder.pools.compute = Some(threads(text)?);
        Some(())
    }),
    ("LAMPREY_PIN_WORKERS", "`on`, `off`, or a list of cores such as 0,4-7", |builder, text| {
        builder.affinity = match switch(text) {
            Some(true) => Affinity::OneEach,
            Some(false) => Affinity::Anywhere,
            None => Affinity::Cores(affinity::parse(text)?),
        };
        Some(())
    }),
    (Io::VARIABLE, Io::EXPECTED, |builder, text| {
        builder.io = Io::parse(text)?;
        Some(())
    }),
    ("LAMPREY_PANICS", "`report`, `propagate` or `abort`", |builder, text| {
        builder.options.panics = match text {
            "report" => Panics::Report,
            "propagate" => Panics::Propagate,
            "abort" => Panics::Abort,
            _ => return None,
        };
        Some(())
    }),
    ("LAMPREY_STUCK_AFTER", "a time such as 500ms or 3s, or `off`", |builder, text| {
        builder.options.stuck_after = if text == "off" { Duration::MAX } else { duration::parse(text)? };
        Some(())
    }),
    ("LAMPREY_DEADLOCKS", SWITCH, |builder, text| {
        builder.options.deadlocks = switch(text)?;
        Some(())
    }),
    ("LAMPREY_RECORDER", "a number of notes, or `off`", |builder, text| {
        builder.options.recorder = if text == "off" { 0 } else { text.parse().ok()? };
        Some(())
    }),
    ("LAMPREY_RECORD_DIR", "the absolute path of a folder", |builder, text| {
        builder.options.record_dir = Some(Some(Path::new(text)).filter(|path| path.is_absolute())?.into());
        Some(())
    }),
    ("LAMPREY_TIME_SLICE", TIME, |builder, text| {
        builder.options.slice = duration::parse(text)?;
        Some(())
    }),
    ("LAMPREY_INFLATION", SWITCH, |builder, text| {
        builder.options.inflation = switch(text)?;
        Some(())
    }),
    ("LAMPREY_PENALTY", "a number from 0 to 255", |builder, text| {
        builder.options.penalty = text.parse().ok()?;
        Some(())
    }),
    ("LAMPREY_OFFERING", SWITCH, |builder, text| {
        builder.options.offering = switch(text)?;
        Some(())
    }),
];

/// Sets what the environment says; `value` looks a variable up.
///
/// # Errors
/// `InvalidInput` for the first value that cannot be read.
pub(super) fn apply(
    builder: &mut RuntimeBuilder,
    value: impl Fn(&str) -> Option<OsString>,
) -> io::Result<()> {
    for (name, expected, set) in VARIABLES {
        let Some(text) = value(name).filter(|text| !text.is_empty()) else { continue };
        if text.to_str().and_then(|text| set(builder, text)).is_none() {
            let text = format!("{name} is {text:?}: it must be {expected}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    }
    Ok(())
}

fn threads(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&number| number >= 1)
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;

    fn with(name: &str, text: &str) -> io::Result<RuntimeBuilder> {
        let mut builder = Runtime::builder();
        apply(&mut builder, |asked| (asked == name).then(|| text.into()))?;
        Ok(builder)
    }

    #[test]
    fn each_variable_sets_its_option() {
        assert_eq!(with("LAMPREY_WORKERS", "7").unwrap().workers, 7);
        assert_eq!(with("LAMPREY_STACK_SIZE", "64k").unwrap().stack_size, Some(64 << 10));
        assert_eq!(with("LAMPREY_BLOCKING_THREADS", "9").unwrap().pools.blocking, 9);
        assert_eq!(with("LAMPREY_BLOCKING_QUEUE", "0").unwrap().pools.queue, 0);
        assert_eq!(with("LAMPREY_FILE_THREADS", "3").unwrap().pools.files, Some(3));
        assert_eq!(with("LAMPREY_LOOKUP_THREADS", "4").unwrap().pools.lookups, Some(4));
        assert_eq!(with("LAMPREY_COMPUTE_THREADS", "5").unwrap().pools.compute, Some(5));
        assert_eq!(with("LAMPREY_PIN_WORKERS", "on").unwrap().affinity, Affinity::OneEach);
        assert_eq!(with("LAMPREY_PIN_WORKERS", "1-2").unwrap().affinity, Affinity::Cores(vec![1, 2]));
        assert_eq!(with("LAMPREY_IO", "epoll").unwrap().io, Io::Epoll);
        assert_eq!(with("LAMPREY_PANICS", "abort").unwrap().options.panics, Panics::Abort);
        assert_eq!(with("LAMPREY_STUCK_AFTER", "off").unwrap().options.stuck_after, Duration::MAX);
        assert_eq!(with("LAMPREY_RECORDER", "off").unwrap().options.recorder, 0);
        assert_eq!(with("LAMPREY_RECORDER", "99").unwrap().options.recorder, 99);
        let folder = with("LAMPREY_RECORD_DIR", "/tmp/records").unwrap().options.record_dir;
        assert_eq!(folder.as_deref(), Some(Path::new("/tmp/records")));
        assert_eq!(with("LAMPREY_TIME_SLICE", "20ms").unwrap().options.slice, Duration::from_millis(20));
        assert!(!with("LAMPREY_INFLATION", "off").unwrap().options.inflation);
        assert_eq!(with("LAMPREY_PENALTY", "0").unwrap().options.penalty, 0);
        assert!(!with("LAMPREY_OFFERING", "off").unwrap().options.offering);
    }

    #[test]
    fn a_bad_value_is_told_with_its_variable_and_what_is_expected() {
        for (name, expected, _) in VARIABLES {
            for text in ["?", "-1", "1.5", " on"] {
                let error = with(name, text).err().unwrap_or_else(|| panic!("{name} took {text:?}"));
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                assert_eq!(error.to_string(), format!("{name} is {text:?}: it must be {expected}"));
            }
            assert!(with(name, "").is_ok(), "{name}: empty is unset");
        }
        assert!(with("LAMPREY_WORKERS", "0").is_err() && with("LAMPREY_WORKERS", "1025").is_err());
        assert!(with("LAMPREY_OTHER", "?").is_ok());
    }

    #[test]
    fn a_value_that_is_no_text_is_told_too() {
        use std::os::unix::ffi::OsStringExt;
        let mut builder = Runtime::builder();
        let error = apply(&mut builder, |_| Some(OsString::from_vec(vec![0xff]))).unwrap_err();
        assert!(error.to_string().contains(r"\xFF"), "{error}");
    }
}
