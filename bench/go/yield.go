package main

import (
	"runtime"
	"sync"
	"time"
)

// 500 goroutines yield in a loop.
func yield(n int) ([]sample, error) {
	const goroutines = 500
	rounds := divCeil(n, goroutines)
	var all sync.WaitGroup
	begun := time.Now()
	for range goroutines {
		all.Add(1)
		go func() {
			for range rounds {
				runtime.Gosched()
			}
			all.Done()
		}()
	}
	all.Wait()
	return []sample{nsEach("yield", time.Since(begun), rounds*goroutines)}, nil
}
