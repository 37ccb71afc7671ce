# What the steps in qemu share. Sourced after lib.sh.
optimise_tests
if ! rustup target list --installed | grep -q "$arm"; then
    cannot "$name: the target $arm is not installed"
    exit 0
fi
leave_out <<'END'
an_overflow_names_the_spawn_of_the_program_and_shows_the_stack: qemu knows no process_vm_readv, by which stacks are read
END
