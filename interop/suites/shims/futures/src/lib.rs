//! The crate `futures`, but what its tests wait with is Lamprey's.

pub use real::*;

/// Executors.
pub mod executor {
    use real::stream::{Stream, StreamExt};
    use std::ops::{Deref, DerefMut};

    pub use lamprey::wait as block_on;
    pub use real::executor::{
        Enter, EnterError, LocalPool, LocalSpawner, ThreadPool, ThreadPoolBuilder, enter,
    };

    /// A stream as an iterator that waits.
    pub fn block_on_stream<S: Stream + Unpin>(stream: S) -> BlockingStream<S> {
        BlockingStream(stream)
    }

    /// The iterator of [`block_on_stream`].
    #[derive(Debug)]
    pub struct BlockingStream<S>(S);

    impl<S> BlockingStream<S> {
        /// The stream.
        pub fn into_inner(self) -> S {
            self.0
        }
    }

    impl<S: Stream + Unpin> Iterator for BlockingStream<S> {
        type Item = S::Item;

        fn next(&mut self) -> Option<S::Item> {
            lamprey::wait(self.0.next())
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            self.0.size_hint()
        }
    }

    impl<S> Deref for BlockingStream<S> {
        type Target = S;

        fn deref(&self) -> &S {
            &self.0
        }
    }

    impl<S> DerefMut for BlockingStream<S> {
        fn deref_mut(&mut self) -> &mut S {
            &mut self.0
        }
    }
}
