//! Communications: their operations on the objects of the world, blocking and asynchronous.

use crate::ledger::{Offered, Tracked as T};
use crate::program::{Act, What};
use crate::world::{Borrowed, Task, World};
use std::sync::Arc;
use std::time::Duration;

/// How a blocking call waits.
#[derive(Debug, Clone, Copy)]
pub enum How {
    /// Not at all.
    Try,
    /// With the call's own timeout form.
    Within(Duration),
    /// Without a limit of its own.
    Plain,
}

/// Records a received value.
pub fn got(value: T) {
    value.received();
    drop(value);
}

fn got_some(value: Option<T>) {
    value.into_iter().for_each(got);
}

fn given_back(value: &T, id: u32) {
    value.check();
    assert_eq!(value.id(), id, "random-programs: another value is given back than was sent");
}

/// Sends on a channel of the world; the sender's ledger entry is right in every case.
fn send(world: &Arc<World>, on: usize, script: Option<u8>, how: How) {
    let value = T::new(world, script);
    let id = value.id();
    let mut offered = Offered::new(&world.ledger, vec![id]);
    let (tx, _) = &world.channels[on];
    let back = match how {
        How::Try => tx.try_send(value).err().map(|error| error.into_inner()),
        How::Within(limit) => tx.send_timeout(value, limit).err().map(|error| error.into_inner()),
        How::Plain => tx.send(value).err().map(|error| error.0),
    };
    match back {
        Some(value) => given_back(&value, id),
        None => {
            offered.sent(&[id]);
            if on == 0 {
                world.ledger.sent(id);
            }
        }
    }
}

/// Performs the act on the calling thread.
pub fn perform(world: &Arc<World>, act: Act, how: How) {
    let on = usize::from(act.on);
    let value = || T::new(world, act.script);
    match act.what {
        What::Send => send(world, on % 3, act.script, how),
        What::Recv => {
            let (_, rx) = &world.channels[on % 3];
            got_some(match how {
                How::Try => rx.try_recv().ok(),
                How::Within(limit) => rx.recv_timeout(limit).ok(),
                How::Plain => rx.recv().ok(),
            });
        }
        What::BoundedSend => {
            let (tx, _) = &world.bounded[on % 2];
            drop(match how {
                How::Try => tx.try_send(value()).err().map(|error| error.into_inner()),
                How::Within(limit) => tx.send_timeout(value(), limit).err().map(|error| error.into_inner()),
                How::Plain => tx.send(value()).err().map(|error| error.0),
            });
        }
        What::BoundedRecv => {
            let (_, rx) = &world.bounded[on % 2];
            got_some(match how {
                How::Try => rx.try_recv().ok(),
                How::Within(limit) => rx.recv_timeout(limit).ok(),
                How::Plain => rx.recv().ok(),
            });
        }
        What::MailSend => drop(world.mail.send(value())),
        What::BroadSend => drop(world.broad.send(value())),
        What::WatchSend => drop(world.watch.send(value())),
        What::CastSend => drop(world.cast.send(value())),
        What::WatchGet => drop(world.watch.get()),
        What::MailRecv
        | What::BroadRecv
        | What::WatchChanged
        | What::CastRecv
        | What::OneRecv
        | What::OneSend => {
            borrowed(world, act, how);
        }
        What::Call | What::Serve => serve(world, act, how),
        What::Swap => match how {
            How::Try => {}
            How::Within(limit) => match world.swap.swap_timeout(value(), limit) {
                Ok(theirs) => got(theirs),
                Err(mine) => mine.check(),
            },
            How::Plain => got(world.swap.swap(value())),
        },
        What::IPut | What::IGet | What::MPut | What::MTake | What::MSwap | What::MRead => {
            variables(world, act, how);
        }
        _ => locks(world, act, how),
    }
}

/// Acts on ends that exist only once: they are taken out of their slots meanwhile.
fn borrowed(world: &Arc<World>, act: Act, how: How) {
    macro_rules! receive {
        ($slots:expr, $use:expr) => {{
            let mut receiver = Borrowed::of($slots);
            let Some(rx) = &mut receiver.1 else { return };
            match how {
                How::Try => rx.try_recv().ok().into_iter().for_each($use),
                How::Within(limit) => rx.recv_timeout(limit).ok().into_iter().for_each($use),
                How::Plain => rx.recv().ok().into_iter().for_each($use),
            }
        }};
    }
    match act.what {
        What::MailRecv => receive!(&world.mail_in, got),
        What::BroadRecv => receive!(&world.broad_in, got),
        What::CastRecv => receive!(&world.cast_in, got),
        What::WatchChanged => {
            let mut receiver = Borrowed::of(&world.watch_in);
            let Some(rx) = &mut receiver.1 else { return };
            match how {
                How::Try => drop(rx.get()),
                How::Within(limit) => drop(rx.changed_timeout(limit)),
                How::Plain => drop(rx.changed()),
            }
        }
        What::OneSend => {
            let tx = world.one_out.take().unwrap_or_else(|| {
                let (tx, rx) = lamprey::oneshot();
                world.one_in.put(rx);
                tx
            });
            drop(tx.send(T::new(world, act.script)));
        }
        _ => {
            let mut rx = world.one_in.take().unwrap_or_else(|| {
                let (tx, rx) = lamprey::oneshot();
                world.one_out.put(tx);
                rx
            });
            match how {
                How::Try => got_some(rx.try_recv().ok()),
                How::Within(limit) => got_some(rx.recv_timeout(limit).ok()),
                How::Plain => got_some(rx.recv().ok()),
            }
        }
    }
}

fn serve(world: &Arc<World>, act: Act, how: How) {
    let value = || T::new(world, act.script);
    if act.what == What::Call {
        match how {
            How::Try => {}
            How::Within(limit) => got_some(world.client.call_timeout(value(), limit).ok()),
            How::Plain => got_some(world.client.call(value()).ok()),
        }
        return;
    }
    let request = match how {
        How::Try => world.server.try_recv().ok(),
        How::Within(limit) => world.server.recv_timeout(limit).ok(),
        How::Plain => world.server.recv().ok(),
    };
    if let Some((question, reply)) = request {
        got(question);
        match act.on % 3 {
            0 => drop(reply),
            _ => drop(reply.send(value())),
        }
    }
}

fn variables(world: &Arc<World>, act: Act, how: How) {
    let value = || T::new(world, act.script);
    let (ivar, mvar) = (&world.ivars[usize::from(act.on % 2)], &world.mvar);
    match act.what {
        What::IPut => drop(ivar.put(value())),
        What::IGet => match how {
            How::Try => drop(ivar.try_get()),
            How::Within(limit) => ivar.get_ref_timeout(limit).into_iter().for_each(T::check),
            How::Plain => drop(ivar.get()),
        },
        What::MPut => match how {
            How::Try => drop(mvar.try_put(value())),
            How::Within(limit) => drop(mvar.put_timeout(value(), limit)),
            How::Plain => drop(mvar.put(value())),
        },
        What::MTake => got_some(match how {
            How::Try => mvar.try_take(),
            How::Within(limit) => mvar.take_timeout(limit).ok(),
            How::Plain => mvar.take().ok(),
        }),
        What::MSwap => match how {
            How::Plain => got_some(mvar.swap(value()).ok()),
            _ => drop(mvar.is_empty()),
        },
        _ => match how {
            How::Plain => drop(mvar.read()),
            _ => drop(mvar.try_read()),
        },
    }
}

fn locks(world: &Arc<World>, act: Act, how: How) {
    let on = usize::from(act.on);
    let value = || T::new(world, act.script);
    let (mutex, rwlock) = (&world.mutexes[on % 4], &world.rwlocks[on % 2]);
    macro_rules! guard {
        ($lock:expr, $attempt:ident, $timeout:ident, $plain:ident) => {
            match how {
                How::Try => $lock.$attempt().map_or_else(|error| error.into_guard(), Some),
                How::Within(limit) => $lock.$timeout(limit).map_or_else(|error| error.into_guard(), Some),
                How::Plain => $lock.$plain().map_or_else(|error| error.into_guard(), Some),
            }
        };
    }
    match act.what {
        What::Lock => {
            if let Some(mut guard) = guard!(mutex, try_lock, lock_timeout, lock) {
                guard.check();
                if on & 4 != 0 && matches!(how, How::Plain) {
                    lamprey::yield_now();
                }
                *guard = value();
            }
        }
        What::Read => {
            if let Some(guard) = guard!(rwlock, try_read, read_timeout, read) {
                guard.check();
                if on & 4 != 0 && matches!(how, How::Plain) {
                    lamprey::yield_now();
                }
            }
        }
        What::Write => {
            if let Some(mut guard) = guard!(rwlock, try_write, write_timeout, write) {
                *guard = value();
                if on & 4 != 0 {
                    lamprey::sync::RwLockWriteGuard::downgrade(guard).check();
                }
            }
        }
        What::CondWait => {
            let Some(guard) = guard!(mutex, try_lock, lock_timeout, lock) else { return };
            match how {
                How::Try => {}
                How::Within(limit) => drop(world.condvar.wait_timeout(guard, limit)),
                How::Plain => drop(world.condvar.wait(guard)),
            }
        }
        What::CondNotify if on & 1 == 0 => world.condvar.notify_one(),
        What::CondNotify => world.condvar.notify_all(),
        What::Permit => {
            let n = 1 + u32::from(act.on % 2);
            let permit = match how {
                How::Try => world.semaphore.try_acquire(n).ok(),
                How::Within(limit) => world.semaphore.acquire_timeout(n, limit).ok(),
                How::Plain => world.semaphore.acquire(n).ok(),
            };
            if permit.is_some() && matches!(how, How::Plain) {
                lamprey::yield_now();
            }
        }
        What::Barrier => match how {
            How::Try => {}
            How::Within(limit) => drop(world.barrier.wait_timeout(limit)),
            How::Plain => drop(world.barrier.wait()),
        },
        What::Sleep => match how {
            How::Try => {}
            How::Within(limit) => lamprey::sleep(limit),
            How::Plain => lamprey::sleep(Duration::from_micros(u64::from(act.on) * 20)),
        },
        What::TokenWait => match how {
            How::Plain => world.tokens[on % 3].wait(),
            _ => drop(world.tokens[on % 3].is_cancelled()),
        },
        _ => onces(world, act, how),
    }
}

fn onces(world: &Arc<World>, act: Act, how: How) {
    let world_again = world.clone();
    let value = move || T::new(&world_again, act.script);
    let yielding = act.on & 2 != 0;
    match (act.what, how) {
        (What::Once, How::Plain) if act.on & 1 == 0 => world.once.wait(),
        (What::Once, How::Within(limit)) => drop(world.once.wait_timeout(limit)),
        (What::Once, How::Plain) => world.once.call_once_force(|_| {
            if yielding {
                lamprey::yield_now();
            }
        }),
        (What::Cell, How::Within(limit)) => world.cell.wait_timeout(limit).into_iter().for_each(T::check),
        (What::Cell, How::Plain) if act.on & 1 == 0 => world.cell.wait().check(),
        (What::Cell, How::Plain) => world
            .cell
            .get_or_init(|| {
                if yielding {
                    lamprey::yield_now();
                }
                value()
            })
            .check(),
        (What::Lazy, How::Plain) => {
            let world = Arc::downgrade(world);
            let lazy = world.upgrade();
            let Some(lazy) = &lazy else { return };
            let make = move || {
                if yielding {
                    lamprey::yield_now();
                }
                // A value must not keep the world alive, because the world keeps it.
                let Some(world) = world.upgrade() else { panic!("the world is gone") };
                T::new(&world, None)
            };
            lazy.lazy.get_or_init(|| lamprey::sync::LazyLock::new(Box::new(make))).check();
        }
        _ => drop(world.cell.get()),
    }
}

/// The asynchronous form. It does not receive from the first channel, because a future that is dropped may
/// have been handed a value.
pub fn task(world: &Arc<World>, act: Act) -> Task {
    let (w, on) = (world.clone(), usize::from(act.on));
    Box::pin(async move {
        let value = || T::new(&w, act.script);
        let (tx, rx) = &w.channels[1 + on % 2];
        let (bounded_tx, bounded_rx) = &w.bounded[on % 2];
        match act.what {
            What::Send => drop(tx.send_async(value()).await),
            What::Recv => got_some(rx.recv_async().await.ok()),
            What::BoundedSend => drop(bounded_tx.send_async(value()).await),
            What::BoundedRecv => got_some(bounded_rx.recv_async().await.ok()),
            What::MailRecv => {
                if let Some(rx) = &mut Borrowed::of(&w.mail_in).1 {
                    got_some(rx.recv_async().await.ok());
                }
            }
            What::BroadRecv => {
                if let Some(rx) = &mut Borrowed::of(&w.broad_in).1 {
                    got_some(rx.recv_async().await.ok());
                }
            }
            What::CastRecv => {
                if let Some(rx) = &mut Borrowed::of(&w.cast_in).1 {
                    got_some(rx.recv_async().await.ok());
                }
            }
            What::WatchChanged => {
                if let Some(rx) = &mut Borrowed::of(&w.watch_in).1 {
                    let _ = rx.changed_async().await;
                }
            }
            What::OneRecv => {
                let (tx, rx) = lamprey::oneshot();
                w.one_out.put(tx);
                got_some(rx.await.ok());
            }
            What::Call => got_some(w.client.call_async(value()).await.ok()),
            What::Serve => {
                if let Ok((question, reply)) = w.server.recv_async().await {
                    got(question);
                    drop(reply.send(value()));
                }
            }
            What::Swap => got(w.swap.swap_async(value()).await),
            What::IGet => drop(w.ivars[on % 2].get_async().await),
            What::MPut => drop(w.mvar.put_async(value()).await),
            What::MTake => got_some(w.mvar.take_async().await.ok()),
            What::MSwap => got_some(w.mvar.swap_async(value()).await.ok()),
            What::MRead => drop(w.mvar.read_async().await),
            What::Lock => {
                let guard = w.mutexes[on % 4].lock_async().await;
                if let Some(mut guard) = guard.map_or_else(|error| error.into_guard(), Some) {
                    *guard = value();
                    if on & 4 != 0 {
                        lamprey::yield_now_async().await;
                    }
                }
            }
            What::Read => {
                let guard = w.rwlocks[on % 2].read_async().await;
                if let Some(guard) = guard.map_or_else(|error| error.into_guard(), Some) {
                    guard.check();
                }
            }
            What::Write => {
                let guard = w.rwlocks[on % 2].write_async().await;
                if let Some(mut guard) = guard.map_or_else(|error| error.into_guard(), Some) {
                    *guard = value();
                }
            }
            What::CondWait => {
                let guard = w.mutexes[on % 4].lock_async().await;
                if let Some(guard) = guard.map_or_else(|error| error.into_guard(), Some) {
                    drop(w.condvar.wait_async(guard).await);
                }
            }
            What::Permit => {
                let permit = w.semaphore.acquire_async(1 + u32::from(act.on % 2)).await;
                lamprey::yield_now_async().await;
                drop(permit);
            }
            What::Barrier => drop(w.barrier.wait_async().await),
            What::Once => w.once.call_once_async(lamprey::yield_now_async).await,
            What::Cell if on & 1 == 0 => w.cell.wait_async().await.check(),
            What::Cell => w.cell.get_or_init_async(|| async { value() }).await.check(),
            What::Sleep => lamprey::sleep_async(Duration::from_micros(u64::from(act.on) * 20)).await,
            What::TokenWait => w.tokens[on % 3].wait_async().await,
            _ => perform(&w, act, How::Try),
        }
    })
}
