package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	fifoPairs  = 128
	message    = 32 << 10
	pipeBuffer = 4 << 10
	// F_SETPIPE_SZ of fcntl(2).
	setPipeSize = 1031
	lastByte    = 42
)

// Messages through pipes beside idle goroutines (see bench/src/work/fifo.rs).
func fifo(n int) ([]sample, error) {
	var begun, ended, wrong atomic.Int64
	var samples []sample
	var idlePipes []*os.File
	for _, idle := range []int{0, 1000, 16_000, 64_000} {
		if idle > descriptors()-66-4*fifoPairs {
			break
		}
		for len(idlePipes) < min(idle, 5*n) {
			file, err := idlePipe()
			if err != nil {
				return nil, err
			}
			idlePipes = append(idlePipes, file)
			go func() {
				begun.Add(1)
				bytes := make([]byte, 64)
				if count, err := file.Read(bytes); err != nil || count != 1 || bytes[0] != lastByte {
					wrong.Add(1)
				}
				ended.Add(1)
			}()
		}
		waitFor(&begun, len(idlePipes))
		messages := divCeil(n, 2*fifoPairs) * 2
		took, err := exchange(messages)
		if err != nil {
			return nil, err
		}
		if ended.Load() != 0 {
			return nil, fmt.Errorf("%d goroutines did not wait", ended.Load())
		}
		samples = append(samples, nsEach(fmt.Sprintf("idle_%d", idle), took, messages*fifoPairs))
	}
	for _, file := range idlePipes {
		if _, err := file.Write([]byte{lastByte}); err != nil {
			return nil, err
		}
	}
	waitFor(&ended, len(idlePipes))
	if wrong.Load() != 0 {
		return nil, fmt.Errorf("%d goroutines have read something else", wrong.Load())
	}
	return samples, nil
}

func waitFor(count *atomic.Int64, n int) {
	for count.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
}

// A pipe with one descriptor for both ends.
func idlePipe() (*os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	defer writer.Close()
	if err := shrink(writer); err != nil {
		return nil, err
	}
	raw, err := reader.SyscallConn()
	if err != nil {
		return nil, err
	}
	var path string
	if err := raw.Control(func(fd uintptr) { path = fmt.Sprintf("/proc/self/fd/%d", fd) }); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
}

func shrink(end *os.File) error {
	raw, err := end.SyscallConn()
	if err != nil {
		return err
	}
	var size uintptr
	err = raw.Control(func(fd uintptr) {
		size, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeBuffer)
	})
	if err == nil && size != pipeBuffer {
		err = fmt.Errorf("a pipe keeps %d bytes", size)
	}
	return err
}

// The time in which the two sides of each pair send each other so many messages, in turn.
func exchange(messages int) (time.Duration, error) {
	begun := time.Now()
	results := make(chan error)
	for pair := range fifoPairs {
		here, fromThere, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		there, fromHere, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		for _, end := range []*os.File{fromThere, fromHere} {
			if err := shrink(end); err != nil {
				return 0, err
			}
		}
		go func() { results <- talk(pair, true, messages, here, fromHere) }()
		go func() { results <- talk(pair, false, messages, there, fromThere) }()
	}
	for range 2 * fifoPairs {
		if err := <-results; err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

func talk(pair int, first bool, messages int, reader, writer *os.File) error {
	defer reader.Close()
	defer writer.Close()
	bytes := make([]byte, message)
	for number := range messages {
		mark := uint64(pair)<<48 | uint64(number)
		if first == (number%2 == 0) {
			for at := 0; at < message; at += pipeBuffer {
				binary.NativeEndian.PutUint64(bytes[at:], mark)
			}
			if _, err := writer.Write(bytes); err != nil {
				return err
			}
			continue
		}
		if err := readMessage(reader, bytes); err != nil {
			return err
		}
		for at := 0; at < message; at += pipeBuffer {
			if binary.NativeEndian.Uint64(bytes[at:]) != mark {
				return fmt.Errorf("message %d of pair %d has come in another form", number, pair)
			}
		}
	}
	return nil
}

func readMessage(reader *os.File, bytes []byte) error {
	for len(bytes) > 0 {
		count, err := reader.Read(bytes)
		if err != nil {
			return err
		}
		bytes = bytes[count:]
	}
	return nil
}
