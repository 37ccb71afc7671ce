//! [`InTokio`]: an executor whose futures find tokio.

use hyper::rt::Executor;
use std::future::Future;

/// An executor that polls all futures in tokio's context ([`lamprey_compat::tokio`](crate::tokio())): for connections whose services or
/// time limits need it.
///
/// # Examples
/// ```
/// use hyper::rt::Executor;
/// use lamprey_compat::hyper::{InTokio, LampreyExecutor};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::oneshot();
///     InTokio(LampreyExecutor::new()).execute(async move {
///         tokio::time::sleep(std::time::Duration::from_millis(1)).await;
///         tx.send("slept").unwrap();
///     });
///     assert_eq!(rx.recv(), Ok("slept"));
/// });
/// ```
#[derive(Debug, Clone, Default)]
pub struct InTokio<E>(pub E);

impl<E, F> Executor<F> for InTokio<E>
where
    E: Executor<crate::Tokio<F>>,
    F: Future,
{
    #[track_caller]
    fn execute(&self, future: F) {
        self.0.execute(crate::tokio(future));
    }
}
