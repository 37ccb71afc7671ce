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
    Channels "channels.md"
    Events "events.md"
    ThreadsThatEndWell "threads-that-end-well.md"
    Io "io.md"
    Time "time.md"
    Files "files.md"
    Processes "processes.md"
    AsyncLibraries "async-libraries.md"
    SharedVariables "shared-variables.md"
    Actors "actors.md"
    WhatIsItDoing "what-is-it-doing.md"
    Tuning "tuning.md"
    YourOwnScheduler "your-own-scheduler.md"
    Simulation "simulation.md"
    FromTokio "from-tokio.md"
    FromGo "from-go.md"
    FromThreads "from-threads.md"
}
