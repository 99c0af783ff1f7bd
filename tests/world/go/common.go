// What the servers of both Go SDKs share: see ../README.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const uri = "world://text"

var (
	folder string
	mode   []string
)

// Is this a part of the mode?
func has(part string) bool { return slices.Contains(mode, part) }

// count notes a run.
func count(tool, key string) {
	f, err := os.OpenFile(filepath.Join(folder, "runs"),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s\n", tool, key)
}

// gate waits until the test opens it, and tells progress.
func gate(ctx context.Context, key string, progress func(int)) error {
	progress(1)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go-"+key)); err == nil {
			progress(2)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func main() {
	switch os.Args[1] {
	case "modes":
		fmt.Println(modes)
		return
	case "client":
		front(os.Args[2:])
		return
	}
	folder, mode = os.Args[3], strings.Split(os.Args[4], ",")
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler())
	s := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: mux}
	if has("keepalive") {
		s.IdleTimeout = time.Second
	}
	log.Fatal(s.ListenAndServe())
}
