//! [`Who`]: the decoded form of a [`Waiter`], whose low bits say what it points at.

use super::foreign::Foreign;
use super::parasite::task::Task;
use super::reason::On;
use super::remote_message::RemoteMessage;
use super::thread::Thread;
use super::waiter::Waiter;
use crate::queue::inbox::Linked;
use crate::sync_shim::Cell;
use std::ptr::NonNull;
use std::task::{Context, Waker};

/// What a [`Waiter`] points at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    Thread(NonNull<Thread>),
    Task(NonNull<Task>),
    Foreign(NonNull<Foreign>),
    /// Only in inboxes: a remote message, to be run by the worker.
    RemoteMessage(NonNull<RemoteMessage>),
}

const TASK: usize = 1;
const FOREIGN: usize = 2;
const MESSAGE: usize = 3;
/// Mask of the low bits of a [`Waiter`].
const TAGS: usize = 3;

// SAFETY: the word is a tagged pointer to a large object: never null nor 1. An inbox links threads, tasks and
// messages only, and the tables in `super::thread` and `super::parasite::task` reserve `link` for it while
// they are in one.
unsafe impl Linked for Waiter {
    fn into_raw(self) -> *mut () {
        self.0.as_ptr()
    }
    fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw)
    }
    /// # Safety
    /// The object is alive for `'a`.
    unsafe fn link<'a>(self) -> &'a Cell<*mut ()> {
        match self.who() {
            // SAFETY: the thread is alive (contract).
            Who::Thread(thread) => &unsafe { thread.as_ref() }.link,
            // SAFETY: the task is alive (contract).
            Who::Task(task) => &unsafe { task.as_ref() }.link,
            // SAFETY: the message is alive (contract).
            Who::RemoteMessage(message) => &unsafe { message.as_ref() }.link,
            Who::Foreign(_) => crate::bug::bug!("a foreign waker was put into an inbox"),
        }
    }
}

impl Waiter {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn thread(thread: NonNull<Thread>) -> Self {
        Self(thread.cast())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn task(task: NonNull<Task>) -> Self {
        Self(task.cast::<()>().map_addr(|addr| addr | TASK))
    }

    pub(crate) fn message(message: NonNull<RemoteMessage>) -> Self {
        Self(message.cast::<()>().map_addr(|addr| addr | MESSAGE))
    }

    /// The waiter for a future that waits with a node of its own, at address `node`. Takes no reference to a
    /// parasite if the node is a part of it, because then the node goes before the parasite does. All other
    /// wakers are cloned and boxed. Notes `on` as what the parasite waits for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_node(cx: &Context<'_>, node: usize, on: On) -> Self {
        match Task::of(cx) {
            // SAFETY: alive: the waker of `cx` is. (The task is not always the one that runs here: `cx` may
            // hold a clone of the waker.)
            Some(task) if unsafe { Task::contains(task, node) } => {
                // SAFETY: alive: the waker of `cx` is.
                unsafe { task.as_ref() }.life.note(on);
                Self::task(task)
            }
            _ => Self::foreign(cx, on),
        }
    }

    /// Drops the foreign waker that [`of_node`](Self::of_node) has boxed. (For a parasite it took nothing.)
    ///
    /// # Safety
    /// From `of_node`; it is in no node now, and is not used any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn forget_of_node(self) {
        if self.is_foreign() {
            // SAFETY: the word is in no node and is not used any more (contract).
            unsafe { self.forget() };
        }
    }

    /// The waiter for a future. Takes no reference to a parasite (see [`keep`](Self::keep)); clones and boxes
    /// a foreign waker. Notes `on` as what the parasite waits for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(cx: &Context<'_>, on: On) -> Self {
        match Task::of(cx) {
            Some(task) => {
                // SAFETY: alive: the waker of `cx` is.
                unsafe { task.as_ref() }.life.note(on);
                Self::task(task)
            }
            None => Self::foreign(cx, on),
        }
    }

    #[cold]
    fn foreign(cx: &Context<'_>, on: On) -> Self {
        super::coop::look();
        let waker = cx.waker().clone();
        note(cx, on);
        Self::of_foreign(Foreign::boxed(waker, 1))
    }

    fn of_foreign(boxed: NonNull<Foreign>) -> Self {
        Self(boxed.cast::<()>().map_addr(|addr| addr | FOREIGN))
    }

    /// So many equal words for one foreign waker, which takes neither a clone nor a box for each. Each is to
    /// be woken or forgotten, once.
    pub(crate) fn many(waker: Waker, words: usize) -> Self {
        Self::of_foreign(Foreign::boxed(waker, words))
    }

    /// Forgets so many of the words that [`many`](Self::many) has made.
    ///
    /// # Safety
    /// They are in no place, and are not used any more.
    pub(crate) unsafe fn forget_many(self, words: usize) {
        if let Who::Foreign(waker) = self.who() {
            // SAFETY: as promised by the caller.
            unsafe { Foreign::forget(waker, words) };
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn who(self) -> Who {
        let bare = self.0.as_ptr().map_addr(|addr| addr & !TAGS);
        // SAFETY: a pointer to an object, without its tag: not null.
        let bare = unsafe { NonNull::new_unchecked(bare) };
        match self.0.addr().get() & TAGS {
            TASK => Who::Task(bare.cast()),
            FOREIGN => Who::Foreign(bare.cast()),
            MESSAGE => Who::RemoteMessage(bare.cast()),
            _ => Who::Thread(bare.cast()),
        }
    }

    /// The thread that this points at, which it does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_plain_thread(self) -> NonNull<Thread> {
        debug_assert_eq!(self.0.addr().get() & TAGS, 0, "no thread");
        self.0.cast()
    }

    /// The pointer with its tag, for a queue that does not follow it; [`of_word`](Self::of_word) takes it back.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_word(self) -> NonNull<Thread> {
        self.0.cast()
    }

    /// See [`into_word`](Self::into_word).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_word(word: NonNull<Thread>) -> Self {
        Self(word.cast())
    }

    /// The thread that this points at, if it does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_thread(self) -> Option<NonNull<Thread>> {
        (self.0.addr().get() & TAGS == 0).then_some(self.0.cast())
    }

    /// The task that this points at, if it does; not for remote messages. (Tests one bit: a match of two bits
    /// is compiled to a jump table, which costs more than the rest of a wake.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_task(self) -> Option<NonNull<Task>> {
        (self.0.addr().get() & TASK != 0).then(|| {
            // SAFETY: a pointer to a task, without its tag: not null.
            unsafe { NonNull::new_unchecked(self.0.as_ptr().map_addr(|addr| addr & !TAGS)) }.cast()
        })
    }

    /// True if this word owns a foreign waker.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_foreign(self) -> bool {
        self.0.addr().get() & TAGS == FOREIGN
    }

    /// True if this word points at the task that is polled with `cx`.
    pub(crate) fn is_of(self, cx: &Context<'_>) -> bool {
        match self.who() {
            Who::Thread(_) => false,
            Who::Task(task) => Task::of(cx) == Some(task),
            // Not read: the thread that takes the node out may be dropping it.
            Who::Foreign(_) | Who::RemoteMessage(_) => false,
        }
    }
}

/// Notes that the parasite, if one is polled with `cx`, waits for `on`: for dumps. After its waker was cloned, which notes that it waits
/// for something that is not known.
pub(crate) fn note(cx: &Context<'_>, on: impl Into<On>) {
    if let Some(task) = Task::of(cx) {
        // SAFETY: alive: the waker of `cx` is.
        unsafe { task.as_ref() }.life.note(on.into());
    }
}
