package main

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	spread = 10_000_000
	never  = time.Hour
)

// A crowd of sleepers, and a ping-pong under timeouts beside them (see bench/src/benches/timers.rs).
func timers(n int) ([]sample, error) {
	var started, armed, fired atomic.Int64
	var deadline time.Time
	gate := make(chan struct{})
	done := make(chan time.Time)
	for i := range n {
		go func() {
			started.Add(1)
			<-gate
			armed.Add(1)
			jitter := uint64(i) * 0x9E37_79B9_7F4A_7C15 % spread
			time.Sleep(time.Until(deadline.Add(time.Duration(jitter))))
			if fired.Add(1) == int64(n) {
				done <- time.Now()
			}
		}()
	}
	for started.Load() < int64(n) {
		runtime.Gosched()
	}
	begun := time.Now()
	deadline = begun.Add(200*time.Millisecond + time.Duration(n)*5*time.Microsecond)
	close(gate)
	for armed.Load() < int64(n) {
		runtime.Gosched()
	}
	arming := time.Since(begun)
	rounds := n / 10
	cancels := underTimeouts(rounds)
	if !time.Now().Before(deadline) {
		return nil, errors.New("arming and cancelling took longer than the sleepers slept")
	}
	last := <-done
	return []sample{
		nsEach("arm", arming, n),
		nsEach("cancel", cancels, rounds*2),
		nsEach("fire", last.Sub(deadline), n),
	}, nil
}

// Rounds of a ping-pong in which every receive has a timeout that does not come. Each side keeps one timer.
func underTimeouts(rounds int) time.Duration {
	ping, pong := make(chan int), make(chan int)
	go func() {
		timer := time.NewTimer(never)
		for {
			i, open := receive(ping, timer)
			if !open {
				return
			}
			pong <- i
		}
	}()
	timer := time.NewTimer(never)
	begun := time.Now()
	for i := range rounds {
		ping <- i
		receive(pong, timer)
	}
	took := time.Since(begun)
	close(ping)
	return took
}

func receive(messages <-chan int, timer *time.Timer) (int, bool) {
	timer.Reset(never)
	select {
	case i, open := <-messages:
		timer.Stop()
		return i, open
	case <-timer.C:
		return 0, false
	}
}
