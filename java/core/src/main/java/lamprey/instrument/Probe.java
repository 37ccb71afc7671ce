package lamprey.instrument;

/** A class that the transformer sees, so that its annotation says how the library was transformed. */
final class Probe {
    private Probe() {}
}
