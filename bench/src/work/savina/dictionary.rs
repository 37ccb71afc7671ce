//! The keys of the bench `savina_dictionary`.

use super::{Work, sum_below};

/// The clients of the dictionary.
pub const CLIENTS: u64 = 20;
/// Keys of each client.
const KEYS: u64 = 512;
/// Of so many calls of a client one is a write.
const CALLS_A_WRITE: u64 = 10;

/// One operation is a call. A client adds up what it reads: nine times what it wrote last.
pub const WORK: Work = Work {
    metric: "call",
    step: CLIENTS * CALLS_A_WRITE,
    checksum: |n| {
        let writes = n / CLIENTS / CALLS_A_WRITE;
        CLIENTS * (CALLS_A_WRITE - 1) * CALLS_A_WRITE * sum_below(writes)
    },
};

/// A call.
pub enum Request {
    /// Write.
    Put {
        /// Where to.
        key: u64,
        /// What.
        value: u64,
    },
    /// Read.
    Get {
        /// Where from.
        key: u64,
    },
}

/// The calls of a client.
pub fn requests(client: u64, calls: u64) -> impl Iterator<Item = Request> + Send {
    (0..calls / CLIENTS).map(move |call| {
        let key = client * KEYS + call / CALLS_A_WRITE % KEYS;
        if call % CALLS_A_WRITE == 0 { Request::Put { key, value: call } } else { Request::Get { key } }
    })
}
