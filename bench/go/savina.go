package main

import (
	"fmt"
	"time"
)

// The sample of one of the programs of `savina`, whose checksum must be right, as bench/src/work/savina has it for the others.
func checked(metric string, began time.Time, operations int, checksum, right uint64) ([]sample, error) {
	took := time.Since(began)
	if err := check(metric, operations, checksum, right); err != nil {
		return nil, err
	}
	return []sample{nsEach(metric, took, operations)}, nil
}

func check(metric string, operations int, checksum, right uint64) error {
	if checksum != right {
		return fmt.Errorf("the checksum of %d %ss is %d, not %d", operations, metric, right, checksum)
	}
	return nil
}

// Numbers that look random, the same as those of work/savina/mod.rs.
type draw uint64

func (d *draw) below(limit int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(*d>>33) % limit
}

// The sum of the numbers below n.
func sumBelow(n int) uint64 {
	return uint64(n) * uint64(n-1) / 2
}
