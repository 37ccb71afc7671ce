//! The programs of the guide, as tests: one line for each chapter of `docs/guide`.

macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!(concat!("../../../docs/guide/", $file))]
            struct $name;
        )*
    };
}

chapters! {
    Introduction "introduction.md"
    Hosts "hosts.md"
    Parasites "parasites.md"
    Events "events.md"
    Time "time.md"
    ThreadsThatEndWell "threads-that-end-well.md"
    Processes "processes.md"
    Actors "actors.md"
    SharedVariables "shared-variables.md"
    Files "files.md"
    Io "io.md"
    AsyncLibraries "async-libraries.md"
    Tuning "tuning.md"
    YourOwnScheduler "your-own-scheduler.md"
    Simulation "simulation.md"
    FromTokio "from-tokio.md"
    FromGo "from-go.md"
    FromThreads "from-threads.md"
}
