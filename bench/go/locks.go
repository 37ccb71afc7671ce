package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Runs body(0), body(1) and so on in a goroutine each; the time from the instant when all have come and are let go until the last has done it.
func crowdOf(goroutines int, body func(i int)) time.Duration {
	var come, done sync.WaitGroup
	come.Add(goroutines)
	done.Add(goroutines)
	gate := make(chan struct{})
	for i := range goroutines {
		go func() {
			come.Done()
			<-gate
			body(i)
			done.Done()
		}()
	}
	come.Wait()
	begun := time.Now()
	close(gate)
	done.Wait()
	return time.Since(begun)
}

type number struct {
	sync.Mutex
	value int
}

func (n *number) add(times int) {
	for range times {
		n.Lock()
		n.value++
		n.Unlock()
	}
}

// Lock, add 1, unlock: alone, and by eight.
func mutex(n int) ([]sample, error) {
	const goroutines = 8
	n = divCeil(n, goroutines) * goroutines
	var one, all number
	begun := time.Now()
	one.add(n)
	alone := time.Since(begun)
	contended := crowdOf(goroutines, func(int) { all.add(n / goroutines) })
	if one.value != n || all.value != n {
		return nil, fmt.Errorf("%d additions made %d and %d", n, one.value, all.value)
	}
	return []sample{nsEach("alone", alone, n), nsEach("contended", contended, n)}, nil
}

// A ring under a mutex and two condition variables.
type queue struct {
	mutex             sync.Mutex
	notFull, notEmpty *sync.Cond
	numbers           [16]int
	first, count      int
}

func newQueue() *queue {
	q := &queue{}
	q.notFull, q.notEmpty = sync.NewCond(&q.mutex), sync.NewCond(&q.mutex)
	return q
}

func (q *queue) put(number int) {
	q.mutex.Lock()
	for q.count == len(q.numbers) {
		q.notFull.Wait()
	}
	q.numbers[(q.first+q.count)%len(q.numbers)] = number
	q.count++
	q.mutex.Unlock()
	q.notEmpty.Signal()
}

func (q *queue) take() int {
	q.mutex.Lock()
	for q.count == 0 {
		q.notEmpty.Wait()
	}
	number := q.numbers[q.first]
	q.first = (q.first + 1) % len(q.numbers)
	q.count--
	q.mutex.Unlock()
	q.notFull.Signal()
	return number
}

// A producer of `each` numbers and a consumer of as many.
func (q *queue) pair(each int, received *atomic.Int64, done *sync.WaitGroup) {
	done.Add(2)
	go func() {
		for i := range each {
			q.put(i)
		}
		done.Done()
	}()
	go func() {
		sum := 0
		for range each {
			sum += q.take()
		}
		received.Add(int64(sum))
		done.Done()
	}()
}

// So many pairs, on one queue or on a queue each.
func pairs(n, many int, oneQueue bool) (time.Duration, error) {
	each := n / many
	var received atomic.Int64
	var done sync.WaitGroup
	begun := time.Now()
	q := newQueue()
	for range many {
		q.pair(each, &received, &done)
		if !oneQueue {
			q = newQueue()
		}
	}
	done.Wait()
	took := time.Since(begun)
	if sum := int64(each) * int64(each-1) / 2 * int64(many); received.Load() != sum {
		return 0, fmt.Errorf("numbers are lost: %d instead of %d", received.Load(), sum)
	}
	return took, nil
}

const manyPairs = 4

// The bounded queue between one pair, and between four.
func condvar(n int) ([]sample, error) {
	n = divCeil(n, manyPairs) * manyPairs
	pair, err := pairs(n, 1, true)
	if err != nil {
		return nil, err
	}
	many, err := pairs(n, manyPairs, true)
	return []sample{nsEach("pair", pair, n), nsEach("many", many, n)}, err
}

// Four pairs with a queue each.
func condvarAffinity(n int) ([]sample, error) {
	n = divCeil(n, manyPairs) * manyPairs
	took, err := pairs(n, manyPairs, false)
	return []sample{nsEach("number", took, n)}, err
}

var crowds = []int{1, 16, 128, 1024}

// Each crowd does body(locks, goroutine, times).
func sysbench(n, mutexes int, body func(locks []number, i, each int)) ([]sample, error) {
	var samples []sample
	for _, goroutines := range crowds {
		each := divCeil(n, goroutines)
		locks := make([]number, mutexes)
		took := crowdOf(goroutines, func(i int) { body(locks, i, each) })
		samples = append(samples, nsEach(fmt.Sprintf("of_%d", goroutines), took, each*goroutines))
	}
	return samples, nil
}

// Lock one of 8, yield, unlock.
func sysbenchThreads(n int) ([]sample, error) {
	return sysbench(n, 8, func(locks []number, i, each int) {
		for j := range each {
			lock := &locks[(i+j/100)%len(locks)]
			lock.Lock()
			runtime.Gosched()
			lock.Unlock()
		}
	})
}

// Compute, lock one of 4096, add 1, unlock.
func sysbenchMutex(n int) ([]sample, error) {
	return sysbench(n, 4096, func(locks []number, i, each int) {
		x := uint64(i)
		for range each {
			for range 100 {
				x = x*6364136223846793005 + 1
			}
			lock := &locks[(x>>33)%uint64(len(locks))]
			lock.Lock()
			lock.value++
			lock.Unlock()
		}
	})
}
