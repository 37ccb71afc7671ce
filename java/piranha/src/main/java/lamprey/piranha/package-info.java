/**
 * A web crawler with one thread for each URL, as in section 4 of the PicoThreads paper. The program is written against {@code java.lang.Thread},
 * {@code synchronized} and {@code java.net}; the Maven plugin makes its threads light. Only {@link lamprey.piranha.Main}, which chooses what the
 * threads run on, knows the library.
 */
package lamprey.piranha;
