package main

import "net"

// Starts an echo server with a goroutine for each connection, which lives as long as the process. The sample is its port.
func echo(int) ([]sample, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			go echoes(stream)
		}
	}()
	port := listener.Addr().(*net.TCPAddr).Port
	return []sample{{"port", "number", float64(port)}}, nil
}

// Go sets TCP_NODELAY by itself.
func echoes(stream net.Conn) {
	defer stream.Close()
	bytes := make([]byte, 1024)
	for {
		count, err := stream.Read(bytes)
		if err != nil {
			return
		}
		if _, err := stream.Write(bytes[:count]); err != nil {
			return
		}
	}
}
