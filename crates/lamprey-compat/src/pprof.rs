//! Where threads wait, and for how long, as a profile for `pprof`: Go's block and mutex profiles.

mod encode;

use lamprey::inspect::{Frame, ThreadRow, threads};
use lamprey::{Stack, ThreadKind, Wait};
use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::Location;
use std::time::{Duration, Instant, SystemTime};

/// For how long threads have waited, by what they wait for and by the calls that led there.
///
/// It looks at all threads again and again ([`lamprey::inspect::threads`]): one that waits at a look is taken to have waited since
/// the look before. So each place has its share of the time, on average, whatever its waits are like; short ones that are seldom may be in no
/// look. Nothing is measured while threads switch, and a program that takes no profile pays nothing.
///
/// The innermost frame of each stack is the [reason](Wait), such as `[lock of a mutex]`, the outermost is where the thread was
/// spawned; of parasites without a stack, the type of their future is between the two. Labels say `reason` and `kind`. The values are
/// `waits`, the number of waits that were seen, and `delay`, in nanoseconds of all threads together.
///
/// Threads that wait because they have nothing to do are in it as well: leave them out by `-ignore` of `pprof`, or look at the lock
/// that you suspect by `-focus='lock of a mutex'`.
///
/// # Examples
/// ```
/// use lamprey_compat::pprof::Blocking;
/// use std::time::Duration;
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// # let (tx, rx) = lamprey::channel::<()>();
/// # let waits = lamprey::spawn(move || rx.recv());
/// let profile = Blocking::over(Duration::from_millis(50), Duration::from_millis(5));
/// # let file = std::env::temp_dir().join("lamprey-blocking.pb.gz");
/// std::fs::write(&file, profile.to_bytes()?)?; // go tool pprof -top blocking.pb.gz
/// # std::fs::remove_file(file)?;
/// # drop(tx);
/// # assert!(waits.join().unwrap().is_err());
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Blocking {
    began: (SystemTime, Instant),
    last: Instant,
    places: HashMap<Place, Waited>,
    /// The waits that the last look has seen.
    seen: HashSet<(u64, Wait)>,
}

/// Where threads wait, and for what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    reason: Wait,
    is_parasite: bool,
    stack: Stack,
    /// The name of a thread without a stack.
    name: Option<String>,
    spawned: Option<&'static Location<'static>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Waited {
    waits: u64,
    nanos: u64,
}

impl Default for Blocking {
    fn default() -> Self {
        Self::new()
    }
}

impl Blocking {
    /// A profile that begins now, and has not looked yet.
    pub fn new() -> Self {
        let now = Instant::now();
        Self { began: (SystemTime::now(), now), last: now, places: HashMap::new(), seen: HashSet::new() }
    }

    /// Looks for `time`, each time `every` has passed.
    ///
    /// # Cancellation
    /// A host that is cancelled unwinds.
    ///
    /// # Blocking
    /// The caller sleeps, and waits for each look.
    pub fn over(time: Duration, every: Duration) -> Self {
        let mut this = Self::new();
        while this.last - this.began.1 < time {
            lamprey::sleep(every);
            this.look();
        }
        this
    }

    /// Looks once: threads that wait now are taken to have waited since the last look.
    ///
    /// # Cancellation
    /// The call is not interrupted.
    ///
    /// # Blocking
    /// The call waits as [`lamprey::inspect::threads`] does.
    pub fn look(&mut self) {
        let me = lamprey::current();
        let rows = threads();
        let now = Instant::now();
        let passed = now - std::mem::replace(&mut self.last, now);
        let mut seen = HashSet::new();
        for row in &rows {
            // The caller waits for the look itself.
            let is_me = row.thread().id() == me.id() && row.thread().name() == me.name();
            let Some(reason) = row.wait().filter(|_| !is_me) else { continue };
            let wait = (row.thread().id(), reason);
            let is_new = !self.seen.contains(&wait) || row.waiting().is_some_and(|waiting| waiting < passed);
            seen.insert(wait);
            let place = self.places.entry(Place::of(row, reason)).or_default();
            let count = row.count() as u64;
            place.waits += if is_new { count } else { 0 };
            place.nanos += count.saturating_mul(passed.as_nanos() as u64);
        }
        self.seen = seen;
    }

    /// For how long threads have waited for this reason, all together.
    pub fn waited(&self, reason: Wait) -> Duration {
        let of_it = self.places.iter().filter(|(place, _)| place.reason == reason);
        Duration::from_nanos(of_it.map(|(_, waited)| waited.nanos).sum())
    }

    /// The profile as `profile.proto` of pprof, compressed by gzip.
    ///
    /// # Errors
    /// Those of the compression.
    ///
    /// # Cancellation
    /// The same as [`lamprey::compute`]. A cancelled call leaves the profile unchanged.
    ///
    /// # Blocking
    /// The same as [`lamprey::compute`]. On a host, a kernel thread of the pool does the work, because the compression needs more stack than a
    /// host may have.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        lamprey::compute(|| {
            let samples: Vec<_> = self.places.iter().map(|(place, waited)| place.sample(*waited)).collect();
            encode::encode(&samples, self.began.0, self.last - self.began.1)
        })
    }
}

impl Place {
    fn of(row: &ThreadRow, reason: Wait) -> Self {
        let thread = row.thread();
        let name = thread.name().filter(|_| row.stack().is_empty()).map(str::to_owned);
        Self {
            reason,
            is_parasite: thread.kind() == ThreadKind::Parasite,
            stack: row.stack().clone(),
            name,
            spawned: thread.spawn_site(),
        }
    }

    fn sample(&self, waited: Waited) -> encode::Sampled {
        let mut frames = vec![Frame::named(format!("[{}]", self.reason))];
        if !self.stack.is_empty() {
            frames.extend(self.stack.frames(false));
        }
        frames.extend(self.name.clone().map(Frame::named));
        frames.extend(self.spawned.map(|site| Frame {
            file: Some(site.file().to_owned()),
            line: Some(site.line()),
            ..Frame::named(format!("[spawned at {}:{}]", site.file(), site.line()))
        }));
        let kind = if self.is_parasite { "parasite" } else { "host" };
        encode::Sampled {
            reason: self.reason.to_string(),
            kind,
            frames,
            values: [waited.waits, waited.nanos],
        }
    }
}
