//go:build newer

package main

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const modes = ",stateful,stateless,store,keepalive,expiry"

// options has what came with 1.x.
func options() (o []server.StreamableHTTPOption) {
	if has("stateful") {
		o = append(o, server.WithStateful(true))
	}
	if has("store") {
		o = append(o, server.WithEventStore(server.NewInMemoryEventStore()))
	}
	if has("expiry") {
		o = append(o, server.WithSessionIdleTTL(time.Second))
	}
	return o
}

// able says that the client answers both kinds of elicitation.
func able() mcp.ClientCapabilities {
	return mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{
		Form: &struct{}{}, URL: &struct{}{}}}
}
