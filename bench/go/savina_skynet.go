package main

import "time"

// A tree of goroutines, each of which sends a sum to its parent.
func savinaSkynet(leaves int) ([]sample, error) {
	begun := time.Now()
	root := make(chan uint64)
	go skynetNode(root, 0, leaves)
	sum := <-root
	took := time.Since(begun)
	if err := check("leaf", leaves, sum, sumBelow(leaves)); err != nil {
		return nil, err
	}
	peak, err := peakMemory()
	if err != nil {
		return nil, err
	}
	return []sample{{"time", "ms", took.Seconds() * 1e3}, {"peak", "MB", float64(peak) / 1e6}}, nil
}

func skynetNode(parent chan<- uint64, first, leaves int) {
	const fanOut = 10
	if leaves == 1 {
		parent <- uint64(first)
		return
	}
	children := make(chan uint64)
	each := leaves / fanOut
	for child := range fanOut {
		go skynetNode(children, first+child*each, each)
	}
	var sum uint64
	for range fanOut {
		sum += <-children
	}
	parent <- sum
}

// The largest number of resident bytes that this process has had, and its page tables.
func peakMemory() (int, error) {
	pages, err := kib("/proc/self/status", "VmHWM:")
	if err != nil {
		return 0, err
	}
	tables, err := kib("/proc/self/status", "VmPTE:")
	return (pages + tables) * 1024, err
}
