//! Where a call that has to wait is made: by the ring of the calling worker, or, without one, on the pool.

use super::File;
use crate::driver::pool::{Class, block_async_in, block_in};
use crate::driver::uring::here::{Here, here};
use crate::driver::uring::{Answer, Kept, Performed};
use std::io;
use std::sync::Arc;

/// [`block`](crate::block), on the pool for files.
#[inline]
pub(super) fn block<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    block_in(Class::Files, call)
}

/// [`block_async`](crate::block_async), on the pool for files.
pub(super) async fn block_async<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    block_async_in(Class::Files, call).await
}

/// Blocks until the ring has performed an operation, or, if it has not, a thread of the pool has made the call. `on` is
/// what both work on, such as a buffer.
#[inline]
pub(super) fn perform<T: Send, C: Send>(
    mut on: C,
    by_ring: impl FnOnce(Here, &mut C) -> io::Result<Option<T>>,
    on_pool: impl FnOnce(C) -> io::Result<T> + Send,
) -> io::Result<T> {
    if let Some(here) = here()
        && let Some(done) = by_ring(here, &mut on)?
    {
        return Ok(done);
    }
    block(|| on_pool(on))
}

/// Has the ring perform an operation; `Err` with what it was to be made of if it was not performed, which is then to be
/// done on the pool. So may `begin` say.
pub(super) async fn perform_async<K: Kept>(
    given: K::Given,
    begin: impl FnOnce(Here, K::Given) -> Result<Performed<K>, K::Given>,
) -> Result<(K, Answer), K::Given> {
    let Some(here) = here() else { return Err(given) };
    match begin(here, given)?.await {
        (kept, answer) if K::is_given_up(answer) => Err(kept.give_back()),
        performed => Ok(performed),
    }
}

impl File {
    /// Has the ring work on the file and on what is given, or, if it has not, the pool.
    pub(super) async fn perform_async<K: Kept<Given = K>>(
        &self,
        given: K,
        begin: impl FnOnce(Here, Arc<std::fs::File>, K) -> Performed<K>,
        on_pool: impl FnOnce(&std::fs::File, &mut K) -> io::Result<usize> + Send + 'static,
    ) -> (io::Result<usize>, K) {
        match perform_async(given, |here, given| Ok(begin(here, self.file.clone(), given))).await {
            Ok((kept, answer)) => (answer.value(), kept),
            Err(mut given) => self.on_pool(move |file| (on_pool(file, &mut given), given)).await,
        }
    }

    /// The call may go on when the future has been dropped, or forgotten; the file is given back when it has ended.
    pub(super) async fn on_pool<T: Send + 'static>(
        &self,
        call: impl FnOnce(&std::fs::File) -> T + Send + 'static,
    ) -> T {
        let file = self.file.clone();
        block_async(move || call(&file)).await
    }
}
