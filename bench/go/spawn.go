package main

import (
	"fmt"
	"sync"
	"time"
)

// Spawn and join, one by one and in batches. A WaitGroup is the cheapest join that Go has.
func spawn(n int) ([]sample, error) {
	const batch = 1000
	batches := divCeil(n, batch)
	threads := batches * batch
	var one sync.WaitGroup
	var got int
	begun := time.Now()
	for i := range threads {
		one.Add(1)
		go func() {
			got = i
			one.Done()
		}()
		one.Wait()
		if got != i {
			return nil, fmt.Errorf("goroutine %d left %d", i, got)
		}
	}
	single := time.Since(begun)

	var all sync.WaitGroup
	results := make([]int, batch)
	begun = time.Now()
	for range batches {
		all.Add(batch)
		for i := range batch {
			go func() {
				results[i] = i
				all.Done()
			}()
		}
		all.Wait()
	}
	return []sample{nsEach("one_by_one", single, threads), nsEach("in_batches", time.Since(begun), threads)}, nil
}
