package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sorts with a goroutine for one half of each partition, as the other programs do.
func quicksort(times int) ([]sample, error) {
	unsorted := make([]uint64, 1<<20)
	x := uint64(1)
	for i := range unsorted {
		x = x*6364136223846793005 + 1442695040888963407
		unsorted[i] = x >> 32
	}
	var samples []sample
	for _, cut := range []int{4096, 256} {
		var took time.Duration
		for range times {
			numbers := slices.Clone(unsorted)
			begun := time.Now()
			sortParts(numbers, cut)
			took += time.Since(begun)
			if !slices.IsSorted(numbers) {
				return nil, fmt.Errorf("not sorted")
			}
		}
		name := fmt.Sprintf("cut_%d", cut)
		samples = append(samples, sample{name, "ms", took.Seconds() * 1e3 / float64(times)})
	}
	return samples, nil
}

func sortParts(numbers []uint64, cut int) {
	if len(numbers) <= 16 {
		for i := range numbers {
			for at := i; at > 0 && numbers[at-1] > numbers[at]; at-- {
				numbers[at-1], numbers[at] = numbers[at], numbers[at-1]
			}
		}
		return
	}
	at := part(numbers)
	small, large := numbers[:at], numbers[at:]
	if len(numbers) <= cut {
		sortParts(small, cut)
		sortParts(large, cut)
		return
	}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		sortParts(small, cut)
		done.Done()
	}()
	sortParts(large, cut)
	done.Wait()
}

// Hoare's partition about the middle one of three.
func part(numbers []uint64) int {
	first, middle, last := numbers[0], numbers[len(numbers)/2], numbers[len(numbers)-1]
	pivot := min(max(first, middle), max(min(first, middle), last))
	left, right := 0, len(numbers)-1
	for {
		for numbers[left] < pivot {
			left++
		}
		for numbers[right] > pivot {
			right--
		}
		if left >= right {
			return max(left, 1)
		}
		numbers[left], numbers[right] = numbers[right], numbers[left]
		left++
		right--
	}
}

// A thousand goroutines that do nothing, and a WaitGroup.
func scope(n int) ([]sample, error) {
	const children = 1000
	scopes := divCeil(n, children)
	begun := time.Now()
	for range scopes {
		var done sync.WaitGroup
		done.Add(children)
		for range children {
			go done.Done()
		}
		done.Wait()
	}
	return []sample{nsEach("child", time.Since(begun), scopes*children)}, nil
}

// Goroutines that wait for a number or for the end of their context.
func cancel(n int) ([]sample, error) {
	const batch = 100
	batches := divCeil(n, batch)
	var took time.Duration
	for range batches {
		var ended atomic.Int64
		var blocked sync.WaitGroup
		blocked.Add(batch)
		cancels, joins := make([]context.CancelFunc, batch), make([]chan struct{}, batch)
		for i := range batch {
			ctx, cancel := context.WithCancel(context.Background())
			cancels[i], joins[i] = cancel, make(chan struct{})
			go func() {
				defer close(joins[i])
				defer ended.Add(1)
				blocked.Done()
				select {
				case <-make(chan int):
				case <-ctx.Done():
				}
			}()
		}
		blocked.Wait()
		// The last may have said so, and not yet be blocked.
		time.Sleep(100 * time.Microsecond)
		begun := time.Now()
		for i := range batch {
			cancels[i]()
			<-joins[i]
		}
		took += time.Since(begun)
		if ended.Load() != batch {
			return nil, fmt.Errorf("%d of %d have ended", ended.Load(), batch)
		}
	}
	return []sample{nsEach("cancel", took, batches*batch)}, nil
}
