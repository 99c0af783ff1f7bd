// A client of either Go SDK as a host: what ../client.py says.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"sync"
)

// A host is what the two SDKs do in their own ways.
type host interface {
	revision() string
	list(context.Context) (string, error)
	call(ctx context.Context, tool, key string) (string, error)
	end() error
}

type order struct {
	ID   int    `json:"id"`
	Tool string `json:"tool"`
	Key  string `json:"key"`
}

var saying sync.Mutex

func say(what map[string]any) {
	saying.Lock()
	defer saying.Unlock()
	json.NewEncoder(os.Stdout).Encode(what)
}

func note(method string) { say(map[string]any{"note": method}) }

func (o order) do(h host) {
	ctx := context.Background()
	said := map[string]any{"id": o.ID}
	var text string
	var err error
	if o.Tool == "" {
		text, err = h.list(ctx)
	} else {
		text, err = h.call(ctx, o.Tool, o.Key)
	}
	if err != nil {
		said["error"] = err.Error()
	} else {
		said["text"] = text
	}
	say(said)
}

func front(words []string) {
	h, err := connect(words)
	if err != nil {
		log.Fatal(err)
	}
	say(map[string]any{"hello": h.revision()})
	var jobs sync.WaitGroup
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			log.Fatal(err)
		}
		jobs.Add(1)
		go func() {
			defer jobs.Done()
			o.do(h)
		}()
	}
	jobs.Wait()
	if err := h.end(); err != nil {
		log.Fatal(err)
	}
}
