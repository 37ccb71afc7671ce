//! The simulator, and Lamprey's own objects under it: a file for each concept. `LAMPREY_RUNS=1000000` makes a soak of it.

mod asynchronous;
mod cancellation;
mod channels;
mod choices;
mod closing;
mod disk;
mod disk_calls;
mod disk_crash;
mod disk_edges;
mod disk_model;
mod disk_paths;
mod disk_wal;
mod exploring;
mod fanout;
mod found;
mod hostile;
mod locks;
mod net;
mod parasites;
mod repeated;
mod schedules;
mod shutdown;
mod signal;
mod supervisors;
mod wraps;
