package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type call = mcp.CallToolRequest

// tool adds one that counts its runs; its text begins with its name.
func tool(s *server.MCPServer, name string, safe bool,
	run func(context.Context, call, string) (string, error)) {
	o := []mcp.ToolOption{mcp.WithString("key", mcp.Required())}
	if safe {
		o = append(o, mcp.WithReadOnlyHintAnnotation(true))
	}
	s.AddTool(mcp.NewTool(name, o...), func(ctx context.Context, r call) (
		*mcp.CallToolResult, error) {
		key := r.GetString("key", "")
		count(name, key)
		text, err := run(ctx, r, key)
		if err != nil {
			return nil, err
		}
		if text == "" {
			text = name + " " + key
		}
		return mcp.NewToolResultText(text), nil
	})
}

func plain(context.Context, call, string) (string, error) { return "", nil }

func slow(ctx context.Context, r call, key string) (string, error) {
	return "", gate(ctx, key, func(n int) {
		if r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil {
			server.ServerFromContext(ctx).SendNotificationToClient(ctx,
				"notifications/progress", map[string]any{
					"progressToken": r.Params.Meta.ProgressToken,
					"progress":      n})
		}
	})
}

func tools(s *server.MCPServer) {
	tool(s, "safe", true, plain)
	tool(s, "unsafe", false, plain)
	tool(s, "slow", false, slow)
	tool(s, "slow_safe", true, slow)
	tool(s, "big", false, func(context.Context, call, string) (string, error) {
		return strings.Repeat("x", 1000000), nil
	})
	tool(s, "boom", false, func(context.Context, call, string) (string, error) {
		panic("boom")
	})
	tool(s, "expired", false, func(context.Context, call, string) (string, error) {
		return "", errors.New("session not found: it has expired")
	})
	tool(s, "log", false, func(ctx context.Context, r call, key string) (string, error) {
		return "", s.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(
			mcp.LoggingLevelWarning, "world", "log "+key))
	})
	tool(s, "touch", false, func(ctx context.Context, r call, key string) (string, error) {
		s.SendNotificationToAllClients("notifications/resources/updated",
			map[string]any{"uri": uri})
		s.SendNotificationToAllClients("notifications/tools/list_changed", nil)
		return "", nil
	})
	tool(s, "sample", false, func(ctx context.Context, r call, key string) (string, error) {
		var q mcp.CreateMessageRequest
		q.MaxTokens = 10
		q.Messages = []mcp.SamplingMessage{{Role: mcp.RoleUser,
			Content: mcp.TextContent{Type: "text", Text: "hi"}}}
		_, err := s.RequestSampling(ctx, q)
		return "", err
	})
	tool(s, "form", false, func(ctx context.Context, r call, key string) (string, error) {
		_, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{
			Params: mcp.ElicitationParams{Message: "sure?",
				RequestedSchema: map[string]any{"type": "object",
					"properties": map[string]any{
						"sure": map[string]any{"type": "boolean"}}}}})
		return "", err
	})
	tool(s, "roots", false, func(ctx context.Context, r call, key string) (string, error) {
		_, err := s.RequestRoots(ctx, mcp.ListRootsRequest{})
		return "", err
	})
}

func handler() http.Handler {
	s := server.NewMCPServer("world", "1", server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true), server.WithLogging(),
		server.WithElicitation(), server.WithRoots(), server.WithRecovery())
	s.EnableSampling()
	tools(s)
	s.AddResource(mcp.NewResource(uri, "text"), func(context.Context,
		mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri,
			Text: "text"}}, nil
	})
	s.AddPrompt(mcp.NewPrompt("hello", mcp.WithArgument("name")),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(
					"hello "+r.Params.Arguments["name"]))}), nil
		})
	o := []server.StreamableHTTPOption{server.WithEndpointPath("/mcp"),
		server.WithStateLess(has("stateless"))}
	return server.NewStreamableHTTPServer(s, append(o, options()...)...)
}
