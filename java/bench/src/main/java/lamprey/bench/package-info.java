/**
 * Benchmarks, with the peers in the same run. What is in {@code plain} is not transformed and runs on threads of the JDK; {@code light} says the
 * same with {@link lamprey.PicoThread} and is transformed.
 */
package lamprey.bench;
