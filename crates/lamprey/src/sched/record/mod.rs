//! The recorder: what each worker did last, always on, for who asks after something has gone wrong (Go's flight recorder).
//!
//! [`ring`] keeps the notes of a worker; [`note`] is one of them; `recorder` decides whether the worker notes its steps, so that
//! this costs it little; `steps` are the places where it does, [`io`] those around the kernel. [`recording`] is what a reader makes of the rings, `text` prints it,
//! [`delays`] says how long ready threads have waited, and [`path`] why one was late (`walk` finds that, `path_text` prints it). [`reports`] adds the last steps to
//! reports, and keeps recordings as files.
//!
//! A simulation records nothing: its own log has everything.

#[cfg(not(loom))]
pub(crate) mod delays;
#[cfg(not(loom))]
pub(crate) mod io;
#[cfg(not(loom))]
pub(in crate::sched) mod note;
#[cfg(not(loom))]
pub(crate) mod path;
#[cfg(not(loom))]
mod path_text;
#[cfg(not(loom))]
pub(in crate::sched) mod recorder;
#[cfg(not(loom))]
pub(crate) mod recording;
#[cfg(not(loom))]
pub(crate) mod reports;
pub(crate) mod ring;
#[cfg(not(loom))]
pub(in crate::sched) mod steps;
#[cfg(not(loom))]
mod text;
#[cfg(not(loom))]
mod walk;
