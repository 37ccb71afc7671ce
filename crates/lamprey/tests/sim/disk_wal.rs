//! A write-ahead log that loses nothing that it has acknowledged, and two that do.

use lamprey::Runtime;
use lamprey::fs::{self, File, OpenOptions};
use lamprey::sim::{DiskSettings, Machine, SimBuilder, explore};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What is wrong with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    /// Records are acknowledged without a sync.
    NoSync,
    /// The log is replaced by a shorter one before that is synced.
    RenameFirst,
    /// Records have no checksum.
    NoChecksum,
}

const RECORD: usize = 700;
/// So many records are in a log before it is replaced by one that has only the last.
const MOST: usize = 4;

/// A record: its number, that of the one before it, and a checksum over all.
fn record(number: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..RECORD - 8).map(|at| (number as usize * 31 + at) as u8).collect();
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    let sum = sum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn number(record: &[u8]) -> u64 {
    u64::from_le_bytes(record[..8].try_into().unwrap())
}

fn is_whole(record: &[u8], bug: Bug) -> bool {
    record.len() == RECORD
        && (bug == Bug::NoChecksum || record[RECORD - 8..] == sum(&record[..RECORD - 8]).to_le_bytes())
}

/// Reads the log, removes what is torn at its end, and returns its last number and its length.
fn recover(bug: Bug) -> io::Result<(u64, usize)> {
    let bytes = match fs::read("/log") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        found => found?,
    };
    let records: Vec<_> = bytes.chunks(RECORD).take_while(|record| is_whole(record, bug)).collect();
    let last = records.last().map_or(0, |record| number(record));
    let file = OpenOptions::new().write(true).create(true).open("/log")?;
    file.set_len((records.len() * RECORD) as u64)?;
    file.sync_all()?;
    Ok((last, records.len()))
}

/// Appends records without end, and acknowledges each.
fn write(bug: Bug, acknowledged: &AtomicU64) -> io::Result<()> {
    let (mut last, mut length) = recover(bug)?;
    let mut log = OpenOptions::new().append(true).open("/log")?;
    loop {
        if length == MOST {
            let mut shorter = File::create("/shorter")?;
            shorter.write_all(&record(last))?;
            if bug != Bug::RenameFirst {
                shorter.sync_all()?;
            }
            fs::rename("/shorter", "/log")?;
            File::open("/")?.sync_all()?;
            shorter.sync_all()?;
            log = OpenOptions::new().append(true).open("/log")?;
            length = 1;
        }
        last += 1;
        length += 1;
        log.write_all(&record(last))?;
        if bug != Bug::NoSync {
            log.sync_data()?;
        }
        acknowledged.store(last, Ordering::SeqCst);
    }
}

/// Fails the machine several times; true if a record was lost that had been acknowledged, or one is there that is not whole.
fn loses(sim: SimBuilder, bug: Bug) -> bool {
    let seed = sim.seed();
    sim.run(|| {
        let there = Machine::new("database");
        for life in 0..3 {
            let acknowledged = Arc::new(AtomicU64::new(0));
            let theirs = acknowledged.clone();
            let writer = there.spawn(move || write(bug, &theirs));
            lamprey::sleep(Duration::from_micros(7_919 * (seed * 3 + life) % 60_000));
            there.crash();
            let _ = writer.join();
            let acknowledged = acknowledged.load(Ordering::SeqCst);
            there.restart();
            let found = there.spawn(move || {
                let last = (0..100).find_map(|_| recover(bug).ok()).map_or(0, |(last, _)| last);
                let bytes = (0..100).find_map(|_| fs::read("/log").ok()).unwrap_or_default();
                (last, bytes.chunks(RECORD).all(|record| is_whole(record, Bug::None)))
            });
            let (last, all_whole) = found.join().unwrap();
            if last < acknowledged || !all_whole {
                return true;
            }
        }
        false
    })
}

#[test]
fn a_proper_one_recovers() {
    explore(1000, |sim| assert!(!loses(sim, Bug::None)));
}

#[test]
fn a_proper_one_recovers_from_errors_too() {
    let settings = DiskSettings::new().errors(0.02).short(0.1);
    explore(300, |sim| assert!(!loses(sim.disk(settings.clone()), Bug::None)));
}

#[test]
fn bugs_are_found() {
    for bug in [Bug::NoSync, Bug::RenameFirst, Bug::NoChecksum] {
        let found = (0..1000).find(|seed| loses(Runtime::simulated(*seed), bug));
        assert!(found.is_some(), "{bug:?}");
    }
}
