package main

import "time"

const bigActors = 120

type bigActor struct {
	me    int
	pings chan int
	pongs chan struct{}
	draw  draw
	// The pings it has answered.
	answered uint64
}

// Actors that ping random others, and answer pings while they wait.
func savinaBig(n int) ([]sample, error) {
	each := divCeil(n, bigActors)
	begun := time.Now()
	all := make([]*bigActor, bigActors)
	for me := range all {
		all[me] = &bigActor{me: me, pings: make(chan int), pongs: make(chan struct{}), draw: draw(me + 1)}
	}
	done, stop, counts := make(chan struct{}), make(chan struct{}), make(chan uint64)
	for _, actor := range all {
		go func() {
			var ponged uint64
			for range each {
				actor.ping(all, (actor.me+1+actor.draw.below(bigActors-1))%bigActors)
				ponged++
			}
			done <- struct{}{}
			for {
				select {
				case <-stop:
					counts <- ponged + actor.answered
					return
				case from := <-actor.pings:
					actor.answer(all[from])
				}
			}
		}()
	}
	for range all {
		<-done
	}
	close(stop)
	var sum uint64
	for range all {
		sum += <-counts
	}
	pings := each * bigActors
	return checked("ping", begun, pings, sum, 2*uint64(pings))
}

func (actor *bigActor) ping(all []*bigActor, other int) {
	for sent := false; !sent; {
		select {
		case all[other].pings <- actor.me:
			sent = true
		case from := <-actor.pings:
			actor.answer(all[from])
		}
	}
	for {
		select {
		case <-actor.pongs:
			return
		case from := <-actor.pings:
			actor.answer(all[from])
		}
	}
}

func (actor *bigActor) answer(pinger *bigActor) {
	pinger.pongs <- struct{}{}
	actor.answered++
}
