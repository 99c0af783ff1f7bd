package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

type mcpgoHost struct {
	*client.Client
	version string
}

func (h mcpgoHost) revision() string { return h.version }

func (h mcpgoHost) list(ctx context.Context) (string, error) {
	found, err := h.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return "", err
	}
	var names []string
	for _, t := range found.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " "), nil
}

func (h mcpgoHost) call(ctx context.Context, tool, key string) (string, error) {
	var q mcp.CallToolRequest
	q.Params.Name = tool
	q.Params.Arguments = map[string]any{"key": key}
	q.Params.Meta = &mcp.Meta{ProgressToken: key}
	r, err := h.CallTool(ctx, q)
	if err != nil {
		return "", err
	}
	text := r.Content[0].(mcp.TextContent).Text
	if r.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

func (h mcpgoHost) end() error { return h.Close() }

// It answers all questions.
type user struct{}

func (user) CreateMessage(context.Context, mcp.CreateMessageRequest) (
	*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{Model: "m", SamplingMessage: mcp.SamplingMessage{
		Role: mcp.RoleAssistant, Content: mcp.NewTextContent("m")}}, nil
}

func (user) Elicit(_ context.Context, q mcp.ElicitationRequest) (
	*mcp.ElicitationResult, error) {
	yes := mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept}
	if q.Params.RequestedSchema != nil {
		yes.Content = map[string]any{"sure": true}
	}
	return &mcp.ElicitationResult{ElicitationResponse: yes}, nil
}

func (user) ListRoots(context.Context, mcp.ListRootsRequest) (
	*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{
		Roots: []mcp.Root{{URI: "file:///r", Name: "r"}}}, nil
}

func connect(words []string) (host, error) {
	ctx := context.Background()
	stdio := transport.NewStdio(words[0], nil, words[1:]...)
	c := client.NewClient(stdio, client.WithSamplingHandler(user{}),
		client.WithElicitationHandler(user{}), client.WithRootsHandler(user{}))
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		note(n.Method)
	})
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	go io.Copy(os.Stderr, stdio.Stderr())
	var q mcp.InitializeRequest
	q.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	q.Params.ClientInfo = mcp.Implementation{Name: "world", Version: "1"}
	q.Params.Capabilities = able()
	r, err := c.Initialize(ctx, q)
	if err != nil {
		return nil, err
	}
	return mcpgoHost{c, r.ProtocolVersion}, nil
}
