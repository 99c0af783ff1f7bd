//go:build !newer

package main

import "github.com/mark3labs/mcp-go/server"

const modes = ",stateless,keepalive"

func options() []server.StreamableHTTPOption { return nil }
