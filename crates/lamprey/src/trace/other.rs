//! Calls that a scheduler adds: `ask`.

use super::call::{Answer, Request as AnyRequest};
use super::slot::{Aim, Slot};
use super::thread::Trace;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A system call of the program's own: what a thread asks for, and what it is answered.
pub trait Request: Send + 'static {
    /// The answer.
    type Answer: Send + 'static;
}

/// Asks the scheduler for something that this module does not know.
///
/// # Examples
/// ```
/// use lamprey::trace::{Call, Request, Trace, ask};
///
/// struct Roll { sides: u32 }
/// impl Request for Roll {
///     type Answer = u32;
/// }
///
/// let trace = Trace::new(async { assert_eq!(ask(Roll { sides: 6 }).await, 4) });
/// let Call::Other(other) = trace.step() else { panic!("another call") };
/// let (roll, asker) = other.downcast::<Roll>().expect("this scheduler knows nothing else");
/// assert_eq!(roll.sides, 6);
/// let rest = asker.answer(4);
/// assert!(matches!(rest.step(), Call::Ret));
/// ```
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn ask<R: Request>(request: R) -> Ask<R> {
    Ask { state: State::Fresh(request) }
}

/// A future: see [`ask`].
#[must_use = "a system call is made when it is awaited"]
pub struct Ask<R: Request> {
    state: State<R>,
}

enum State<R: Request> {
    Fresh(R),
    Asked,
    Done(R::Answer),
}

// Nothing is pinned: the request and its answer are moved.
impl<R: Request> Unpin for Ask<R> {}

impl<R: Request> Future for Ask<R> {
    type Output = R::Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R::Answer> {
        let slot = Slot::of(context);
        self.state = match std::mem::replace(&mut self.state, State::Asked) {
            State::Done(answer) if slot.aim.get() == Aim::Run => return Poll::Ready(answer),
            State::Fresh(request) => slot
                .ask(request, |request| AnyRequest::Other(Box::new(request)))
                .map_or(State::Asked, State::Fresh),
            State::Asked => take_answer::<R>(slot).map_or(State::Asked, State::Done),
            done => done,
        };
        Poll::Pending
    }
}

fn take_answer<R: Request>(slot: &Slot<'_>) -> Option<R::Answer> {
    if slot.aim.get() != Aim::Answer {
        return None;
    }
    match slot.answer.take() {
        Some(Answer::Other(answer)) => match answer.downcast() {
            Ok(answer) => {
                slot.aim.set(Aim::Reached);
                Some(*answer)
            }
            Err(answer) => {
                slot.answer.set(Some(Answer::Other(answer)));
                None
            }
        },
        other => {
            slot.answer.set(other);
            None
        }
    }
}

impl<R: Request> fmt::Debug for Ask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").finish_non_exhaustive()
    }
}

/// A call of the program's own, of a type that is not known yet, and its thread.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct Other {
    pub(super) request: Box<dyn Any + Send>,
    pub(super) trace: Trace,
}

impl Other {
    /// The request, and who awaits its answer, if it is of type `R`.
    ///
    /// # Errors
    /// The call, if it is of another type.
    pub fn downcast<R: Request>(self) -> Result<(R, Asker<R>), Self> {
        match self.request.downcast() {
            Ok(request) => Ok((*request, Asker { trace: self.trace, answer: PhantomData })),
            Err(request) => Err(Self { request, trace: self.trace }),
        }
    }
}

/// A thread that awaits the answer to a request of type `R`.
#[must_use = "a thread that is not answered never goes on"]
pub struct Asker<R: Request> {
    trace: Trace,
    answer: PhantomData<fn(R::Answer)>,
}

impl<R: Request> Asker<R> {
    /// The thread, which finds the answer.
    pub fn answer(self, answer: R::Answer) -> Trace {
        self.trace.resume(Aim::Answer, Some(Answer::Other(Box::new(answer)))).0
    }
}

impl<R: Request> fmt::Debug for Asker<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asker").finish_non_exhaustive()
    }
}
