//! Signals that are sent to the program of a machine.

use super::machine::Machine;
use super::run::Run;
use crate::signal::Signal;

impl Machine {
    /// Sends a signal to the program that runs there. It reaches those who [listen](crate::signal::listen) on this machine.
    ///
    /// If nobody has listened for it since the machine was started, it does what it does by default: SIGCHLD, SIGCONT,
    /// SIGURG, SIGWINCH and SIGPIPE do nothing (nor does what stops a process: a simulated one goes on); all others end the
    /// program, and SIGKILL in any case. That is as a [crash](Self::crash), but the machine goes on: what was written to its
    /// [disk](Self::disk) is not lost. [`restart`](Self::restart) starts the program again. Does nothing on a machine that
    /// is down.
    ///
    /// The signals of the process itself reach no simulated program.
    ///
    /// # Examples
    /// ```
    /// use lamprey::{Runtime, signal::{self, Signal}, sim::Machine};
    /// Runtime::simulated(1).run(|| {
    ///     let there = Machine::new("server");
    ///     let (ready, is_ready) = lamprey::channel();
    ///     let server = there.spawn(move || {
    ///         let signals = signal::listen(&[Signal::TERM]).unwrap();
    ///         ready.send(()).unwrap();
    ///         signals.recv().unwrap()
    ///     });
    ///     is_ready.recv().unwrap();
    ///     there.signal(Signal::TERM);
    ///     assert_eq!(server.join().unwrap(), Signal::TERM);
    ///     there.signal(Signal::KILL);
    ///     assert!(!there.is_up());
    /// });
    /// ```
    ///
    /// # Panics
    /// Outside of a simulation; and if there is no such signal.
    pub fn signal(&self, signal: Signal) {
        let run = self.run("Machine::signal");
        let Some(bit) = signal.any_bit() else { panic!("there is no {signal} to send to a machine") };
        run.world.note(format_args!("{} is sent {signal}", self.name()));
        let node = run.node(self.id);
        if node.is_down() || node.is_stopping() {
            return;
        }
        let is_handled = run.world.listeners.send(self.id, bit);
        if !is_handled && signal.ends_by_default() {
            self.end(&run, false);
        }
    }

    /// All that runs there ends; if the machine itself fails, what it has not synced is lost.
    pub(super) fn end(&self, run: &Run, fails: bool) {
        run.world.disks.end(&run.world, self.id, fails);
        run.world.listeners.end(self.id);
        run.node(self.id).stop();
    }
}
