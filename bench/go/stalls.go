package main

import (
	"net"
	"time"
)

const soon = 10 * time.Millisecond

func compute(long time.Duration) {
	for begun := time.Now(); time.Since(begun) < long; {
	}
}

// See bench/src/benches/stalls.rs. A goroutine that computes is preempted after 10 ms.
func stalls(milliseconds int) ([]sample, error) {
	long := time.Duration(milliseconds) * time.Millisecond
	var samples []sample
	for _, kind := range []string{"timer", "socket", "message", "unstarted", "spawner"} {
		late, err := stall(kind, long)
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample{kind, "us", float64(late.Nanoseconds()) / 1e3})
	}
	return samples, nil
}

func stall(kind string, long time.Duration) (time.Duration, error) {
	due, ran := make(chan time.Time, 1), make(chan time.Time, 1)
	tell := func() { ran <- time.Now() }
	over := make(chan error)
	go func() {
		over <- beside(kind, long, due, tell)
	}()
	if err := <-over; err != nil {
		return 0, err
	}
	return max(0, (<-ran).Sub(<-due)), nil
}

func beside(kind string, long time.Duration, due chan time.Time, tell func()) error {
	switch kind {
	case "timer":
		due <- time.Now().Add(soon)
		go func() {
			time.Sleep(soon)
			tell()
		}()
	case "socket":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() {
			stream, err := listener.Accept()
			if err == nil {
				time.Sleep(soon)
				due <- time.Now()
				stream.Write([]byte("x"))
			}
		}()
		stream, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			return err
		}
		go func() {
			stream.Read(make([]byte, 1))
			tell()
		}()
	case "message":
		message := make(chan bool)
		go func() {
			time.Sleep(soon)
			due <- time.Now()
			message <- true
		}()
		go func() {
			<-message
			tell()
		}()
	case "unstarted":
		due <- time.Now()
		go tell()
	default:
		over := make(chan bool)
		go func() {
			compute(long)
			over <- true
		}()
		due <- time.Now().Add(soon)
		time.Sleep(soon)
		tell()
		<-over
		return nil
	}
	compute(long)
	return nil
}
