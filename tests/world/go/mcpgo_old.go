//go:build !newer

package main

import (
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const modes = ",stateless,keepalive"

func options() []server.StreamableHTTPOption { return nil }

func able() mcp.ClientCapabilities { return mcp.ClientCapabilities{} }
