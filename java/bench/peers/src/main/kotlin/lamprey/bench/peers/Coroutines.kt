package lamprey.bench.peers

import kotlin.coroutines.suspendCoroutine
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.launch
import kotlinx.coroutines.newSingleThreadContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import java.util.concurrent.atomic.AtomicInteger

/** The benchmarks' work as coroutines of kotlinx, on one kernel thread. */
@OptIn(kotlinx.coroutines.DelicateCoroutinesApi::class, kotlinx.coroutines.ExperimentalCoroutinesApi::class)
object Coroutines {
    private val one: ExecutorCoroutineDispatcher = newSingleThreadContext("one")

    @JvmStatic
    fun yields(threads: Int, yields: Int, depth: Int) = runBlocking {
        val root = launch(one) {
            for (i in 0 until threads) {
                launch { descend(depth, yields, i.toLong(), "x") }
            }
        }
        root.join()
    }

    private suspend fun descend(depth: Int, yields: Int, seed: Long, o: Any?): Long {
        if (depth > 1) {
            val below = descend(depth - 1, yields, seed + 1, o)
            return if (o == null) below else below + seed
        }
        for (i in 0 until yields) {
            yield()
        }
        return seed
    }

    @JvmStatic
    fun spawns(threads: Int) = runBlocking {
        val ended = AtomicInteger()
        val root = launch(one) {
            for (i in 1..threads) {
                launch { ended.incrementAndGet() }
                if (i % 100 == 0 || i == threads) {
                    while (ended.get() < i) {
                        yield()
                    }
                }
            }
        }
        root.join()
    }

    /** Starts coroutines that wait for ever. */
    @JvmStatic
    fun blocked(held: Array<Any?>, depth: Int) {
        val begun = AtomicInteger()
        runBlocking {
            val scope = kotlinx.coroutines.CoroutineScope(one)
            for (i in held.indices) {
                scope.launch { waitDeep(depth, i.toLong(), begun, held, i) }
            }
            while (begun.get() < held.size) {
                Thread.yield()
            }
        }
    }

    private suspend fun waitDeep(depth: Int, seed: Long, begun: AtomicInteger?, held: Array<Any?>, at: Int): Long {
        if (depth > 1) {
            val below = waitDeep(depth - 1, seed + 1, begun, held, at)
            return if (begun == null) below else below + seed
        }
        begun!!.incrementAndGet()
        // What is to be continued is reachable only from here.
        suspendCoroutine<Unit> { held[at] = it }
        return seed
    }

    private suspend fun fib(n: Int): Int {
        if (n < 2) {
            if (n < 0) {
                yield()
            }
            return n
        }
        return fib(n - 1) + fib(n - 2)
    }

    /** Every call is one of a suspending function. */
    @JvmStatic
    fun fibonacci(n: Int): Int = runBlocking { fib(n) }
}
