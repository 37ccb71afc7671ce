// The Boost.Fiber side of Lamprey's benches of locks. It is driven like every other variant: lines "run N" on stdin, lines
// "sample METRIC UNIT VALUE" and "done", or "error TEXT", on stdout (see bench/harness/src/worker.rs).
//
// One worker: the algorithm that Boost.Fiber comes with, round robin. More: work stealing, on a kernel thread for each.
#include <boost/fiber/all.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <csignal>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using boost::fibers::condition_variable;
using boost::fibers::fiber;
using boost::fibers::mutex;
using std::uint64_t;
using Clock = std::chrono::steady_clock;
using Took = Clock::duration;

static double ns_each(Took took, uint64_t operations) {
    return std::chrono::duration<double, std::nano>(took).count() / operations;
}

static void sample(const std::string& metric, const char* unit, double value) {
    std::cout << "sample " << metric << ' ' << unit << ' ' << value << '\n';
}

static uint64_t rounded(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// A fiber with a stack that does not depend on the system's limit.
template <typename Body>
static fiber spawn(Body body) {
    return fiber(std::allocator_arg, boost::fibers::fixedsize_stack(64 * 1024), std::move(body));
}

// Runs body(0), body(1) and so on in a fiber each; the time from the instant when all have come and are let go until the last has done it.
template <typename Body>
static Took crowd(size_t fibers, Body body) {
    mutex lock;
    condition_variable come, opened;
    size_t here = 0;
    bool open = false;
    std::atomic<size_t> left{fibers};
    Clock::time_point ended;
    std::vector<fiber> all;
    for (size_t i = 0; i < fibers; i++)
        all.push_back(spawn([&, i] {
            {
                std::unique_lock<mutex> guard(lock);
                here++;
                come.notify_one();
                opened.wait(guard, [&] { return open; });
            }
            body(i);
            if (left.fetch_sub(1) == 1) ended = Clock::now();
        }));
    Clock::time_point begun;
    {
        std::unique_lock<mutex> guard(lock);
        come.wait(guard, [&] { return here == fibers; });
        open = true;
        begun = Clock::now();
    }
    opened.notify_all();
    for (auto& one : all) one.join();
    return ended - begun;
}

struct Number {
    mutex lock;
    uint64_t value = 0;

    void add(uint64_t times) {
        for (uint64_t i = 0; i < times; i++) {
            std::unique_lock<mutex> guard(lock);
            value++;
        }
    }
};

static void check(bool right, const char* what) {
    if (!right) throw std::runtime_error(what);
}

static void mutexes(uint64_t n) {
    const uint64_t fibers = 8;
    n = rounded(n, fibers);
    Number one, all;
    auto begun = Clock::now();
    one.add(n);
    auto alone = Clock::now() - begun;
    auto contended = crowd(fibers, [&](size_t) { all.add(n / fibers); });
    check(one.value == n && all.value == n, "additions are lost");
    sample("alone", "ns", ns_each(alone, n));
    sample("contended", "ns", ns_each(contended, n));
}

struct alignas(128) Queue {
    mutex lock;
    condition_variable not_full, not_empty;
    std::deque<uint64_t> numbers;

    void put(uint64_t number) {
        {
            std::unique_lock<mutex> guard(lock);
            not_full.wait(guard, [&] { return numbers.size() < 16; });
            numbers.push_back(number);
        }
        not_empty.notify_one();
    }

    uint64_t take() {
        uint64_t number;
        {
            std::unique_lock<mutex> guard(lock);
            not_empty.wait(guard, [&] { return !numbers.empty(); });
            number = numbers.front();
            numbers.pop_front();
        }
        not_full.notify_one();
        return number;
    }
};

// So many pairs, on one queue or on a queue each.
static Took pairs(uint64_t n, uint64_t many, bool one_queue) {
    const uint64_t each = n / many;
    std::atomic<uint64_t> received{0};
    std::vector<Queue> queues(one_queue ? 1 : many);
    std::vector<fiber> all;
    auto begun = Clock::now();
    for (uint64_t i = 0; i < many; i++) {
        Queue& queue = queues[i % queues.size()];
        all.push_back(spawn([&queue, each] {
            for (uint64_t j = 0; j < each; j++) queue.put(j);
        }));
        all.push_back(spawn([&queue, &received, each] {
            uint64_t sum = 0;
            for (uint64_t j = 0; j < each; j++) sum += queue.take();
            received += sum;
        }));
    }
    for (auto& one : all) one.join();
    auto took = Clock::now() - begun;
    check(received == each * (each - 1) / 2 * many, "numbers are lost");
    return took;
}

static void condvar(uint64_t n) {
    n = rounded(n, 4);
    sample("pair", "ns", ns_each(pairs(n, 1, true), n));
    sample("many", "ns", ns_each(pairs(n, 4, true), n));
}

static void condvar_affinity(uint64_t n) {
    n = rounded(n, 4);
    sample("number", "ns", ns_each(pairs(n, 4, false), n));
}

// Each crowd does body(locks, fiber, times).
template <typename Body>
static void sysbench(uint64_t n, size_t locks, Body body) {
    for (size_t fibers : {1, 16, 128, 1024}) {
        const uint64_t each = rounded(n, fibers) / fibers;
        std::vector<Number> all(locks);
        auto took = crowd(fibers, [&](size_t i) { body(all, i, each); });
        sample("of_" + std::to_string(fibers), "ns", ns_each(took, each * fibers));
    }
}

static void sysbench_threads(uint64_t n) {
    sysbench(n, 8, [](std::vector<Number>& locks, size_t i, uint64_t each) {
        for (uint64_t j = 0; j < each; j++) {
            std::unique_lock<mutex> guard(locks[(i + j / 100) % locks.size()].lock);
            boost::this_fiber::yield();
        }
    });
}

static void sysbench_mutex(uint64_t n) {
    sysbench(n, 4096, [](std::vector<Number>& locks, size_t i, uint64_t each) {
        uint64_t x = i;
        for (uint64_t j = 0; j < each; j++) {
            for (int step = 0; step < 100; step++) {
                x = x * 6364136223846793005u + 1;
                asm volatile("" : "+r"(x)); // or the compiler takes many steps at a time
            }
            locks[(x >> 33) % locks.size()].add(1);
        }
    });
}

// Hoare's partition about the middle one of three.
static size_t part(uint64_t* numbers, size_t count) {
    const uint64_t first = numbers[0], middle = numbers[count / 2], last = numbers[count - 1];
    const uint64_t pivot = std::min(std::max(first, middle), std::max(std::min(first, middle), last));
    size_t left = 0, right = count - 1;
    for (;;) {
        while (numbers[left] < pivot) left++;
        while (numbers[right] > pivot) right--;
        if (left >= right) return std::max<size_t>(left, 1);
        std::swap(numbers[left++], numbers[right--]);
    }
}

static void sort(uint64_t* numbers, size_t count, size_t cut) {
    if (count <= 16) {
        for (size_t i = 1; i < count; i++)
            for (size_t at = i; at > 0 && numbers[at - 1] > numbers[at]; at--) std::swap(numbers[at - 1], numbers[at]);
        return;
    }
    const size_t at = part(numbers, count);
    if (count > cut) {
        fiber small = spawn([=] { sort(numbers, at, cut); });
        sort(numbers + at, count - at, cut);
        small.join();
    } else {
        sort(numbers, at, cut);
        sort(numbers + at, count - at, cut);
    }
}

static void quicksort(uint64_t times) {
    std::vector<uint64_t> unsorted(1 << 20);
    uint64_t x = 1;
    for (auto& number : unsorted) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        number = x >> 32;
    }
    for (size_t cut : {4096, 256}) {
        Took took{};
        for (uint64_t i = 0; i < times; i++) {
            auto numbers = unsorted;
            auto begun = Clock::now();
            sort(numbers.data(), numbers.size(), cut);
            took += Clock::now() - begun;
            check(std::is_sorted(numbers.begin(), numbers.end()), "not sorted");
        }
        sample("cut_" + std::to_string(cut), "ms", ns_each(took, times) / 1e6);
    }
}

static const std::map<std::string, void (*)(uint64_t)> benches{
    {"mutex", mutexes},
    {"condvar", condvar},
    {"condvar_affinity", condvar_affinity},
    {"sysbench_threads", sysbench_threads},
    {"sysbench_mutex", sysbench_mutex},
    {"quicksort", quicksort},
};

// In a process of its own, as idle threads look for work in a loop: none is left of them between two runs.
static void run(void (*bench)(uint64_t), uint64_t n, int workers) try {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // it does not outlive a parent that is killed
    using boost::fibers::algo::work_stealing;
    for (int i = 1; i < workers; i++)
        std::thread([=] {
            boost::fibers::use_scheduling_algorithm<work_stealing>(workers);
            // It runs what it steals while this never ends.
            mutex lock;
            condition_variable never;
            std::unique_lock<mutex> guard(lock);
            never.wait(guard, [] { return false; });
        }).detach();
    if (workers > 1) boost::fibers::use_scheduling_algorithm<work_stealing>(workers);
    bench(n);
    std::cout << "done" << std::endl;
    std::_Exit(0);
} catch (const std::exception& e) {
    std::cout << "error " << e.what() << std::endl;
    std::_Exit(1);
}

int main(int count, char** arguments) try {
    check(count == 3 && benches.count(arguments[1]), "usage: boost BENCH WORKERS");
    const auto bench = benches.at(arguments[1]);
    const int workers = std::stoi(arguments[2]);
    for (std::string order; std::getline(std::cin, order);) {
        check(order.rfind("run ", 0) == 0, "not an order");
        const uint64_t n = std::stoull(order.substr(4));
        const pid_t child = fork();
        check(child >= 0, "cannot fork");
        if (child == 0) run(bench, n, workers);
        int status;
        check(waitpid(child, &status, 0) == child, "cannot wait");
        if (status != 0) return 1; // it has said why, or the signal will do
    }
} catch (const std::exception& e) {
    std::cout << "error " << e.what() << std::endl;
    return 1;
}
