package main

import (
	"net"
	"net/http"
)

// Starts a web server that lives as long as the process. The sample is its port.
func serveHello(int) ([]sample, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	body := []byte("Hello, World!")
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write(body)
	})
	go http.Serve(listener, handler)
	port := listener.Addr().(*net.TCPAddr).Port
	return []sample{{"port", "number", float64(port)}}, nil
}
