//! Locks, condition variables, semaphores, barriers, and what is made once.

#[path = "../common/mod.rs"]
mod common;

mod barrier;
mod condvar;
mod forms;
mod mutex;
mod once;
mod order;
mod rwlock;
mod semaphore;
mod wait_group;
