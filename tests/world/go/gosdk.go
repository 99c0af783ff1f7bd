package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const modes = ",json,stateless,store,keepalive,expiry"

type in struct {
	Key string `json:"key"`
}

type call = mcp.CallToolRequest

// tool adds one that counts its runs; its text begins with its name.
func tool(s *mcp.Server, name string, safe bool,
	run func(context.Context, *call, string) (string, error)) {
	t := &mcp.Tool{Name: name}
	if safe {
		t.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}
	}
	mcp.AddTool(s, t, func(ctx context.Context, r *call, in in) (
		*mcp.CallToolResult, any, error) {
		count(name, in.Key)
		text, err := run(ctx, r, in.Key)
		if err != nil {
			return nil, nil, err
		}
		if text == "" {
			text = name + " " + in.Key
		}
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: text}}}, nil, nil
	})
}

func plain(context.Context, *call, string) (string, error) { return "", nil }

func slow(ctx context.Context, r *call, key string) (string, error) {
	return "", gate(ctx, key, func(n int) {
		token := r.Params.GetProgressToken()
		if token != nil {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(n)})
		}
	})
}

func tools(s *mcp.Server) {
	tool(s, "safe", true, plain)
	tool(s, "unsafe", false, plain)
	tool(s, "slow", false, slow)
	tool(s, "slow_safe", true, slow)
	tool(s, "big", false, func(context.Context, *call, string) (string, error) {
		return strings.Repeat("x", 1000000), nil
	})
	tool(s, "expired", false, func(context.Context, *call, string) (string, error) {
		return "", errors.New("session not found: it has expired")
	})
	tool(s, "log", false, func(ctx context.Context, r *call, key string) (string, error) {
		return "", r.Session.Log(ctx, &mcp.LoggingMessageParams{
			Level: "warning", Data: "log " + key})
	})
	tool(s, "touch", false, func(ctx context.Context, r *call, key string) (string, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "new"}, func(context.Context, *call, in) (
			*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
		return "", s.ResourceUpdated(ctx,
			&mcp.ResourceUpdatedNotificationParams{URI: uri})
	})
	tool(s, "sample", false, func(ctx context.Context, r *call, key string) (string, error) {
		_, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user",
				Content: &mcp.TextContent{Text: "hi"}}}})
		return "", err
	})
	tool(s, "form", false, func(ctx context.Context, r *call, key string) (string, error) {
		_, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?",
			RequestedSchema: map[string]any{"type": "object",
				"properties": map[string]any{
					"sure": map[string]any{"type": "boolean"}}}})
		return "", err
	})
	tool(s, "roots", false, func(ctx context.Context, r *call, key string) (string, error) {
		_, err := r.Session.ListRoots(ctx, nil)
		return "", err
	})
}

func handler() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "world", Version: "1"},
		&mcp.ServerOptions{
			SubscribeHandler: func(context.Context, *mcp.SubscribeRequest) error {
				return nil
			},
			UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error {
				return nil
			}})
	tools(s)
	s.AddResource(&mcp.Resource{URI: uri, Name: "text"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: uri, Text: "text"}}}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "hello",
		Arguments: []*mcp.PromptArgument{{Name: "name"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user",
				Content: &mcp.TextContent{
					Text: "hello " + r.Params.Arguments["name"]}}}}, nil
		})
	o := &mcp.StreamableHTTPOptions{Stateless: has("stateless"),
		JSONResponse: has("json")}
	if has("store") {
		o.EventStore = mcp.NewMemoryEventStore(nil)
	}
	if has("expiry") {
		o.SessionTimeout = time.Second
	}
	return mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s }, o)
}
