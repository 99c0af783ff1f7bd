package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type gosdkHost struct{ *mcp.ClientSession }

func (h gosdkHost) revision() string {
	return h.InitializeResult().ProtocolVersion
}

func (h gosdkHost) list(ctx context.Context) (string, error) {
	found, err := h.ListTools(ctx, nil)
	if err != nil {
		return "", err
	}
	var names []string
	for _, t := range found.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " "), nil
}

func (h gosdkHost) call(ctx context.Context, tool, key string) (string, error) {
	// 1.2.0 puts no token where there is no meta
	p := &mcp.CallToolParams{Name: tool, Meta: mcp.Meta{},
		Arguments: map[string]any{"key": key}}
	p.SetProgressToken(key)
	r, err := h.CallTool(ctx, p)
	if err != nil {
		return "", err
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

func (h gosdkHost) end() error { return h.Close() }

func connect(words []string) (host, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "world", Version: "1"},
		&mcp.ClientOptions{
			Capabilities: &mcp.ClientCapabilities{
				RootsV2: &mcp.RootCapabilities{},
				Elicitation: &mcp.ElicitationCapabilities{
					Form: &mcp.FormElicitationCapabilities{},
					URL:  &mcp.URLElicitationCapabilities{}}},
			CreateMessageHandler: func(context.Context,
				*mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Role: "assistant",
					Model: "m", Content: &mcp.TextContent{Text: "m"}}, nil
			},
			ElicitationHandler: func(_ context.Context,
				q *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				yes := &mcp.ElicitResult{Action: "accept"}
				if q.Params.Mode != "url" {
					yes.Content = map[string]any{"sure": true}
				}
				return yes, nil
			},
			ToolListChangedHandler: func(context.Context,
				*mcp.ToolListChangedRequest) {
				note("notifications/tools/list_changed")
			},
			ProgressNotificationHandler: func(context.Context,
				*mcp.ProgressNotificationClientRequest) {
				note("notifications/progress")
			}})
	c.AddRoots(&mcp.Root{URI: "file:///r", Name: "r"})
	command := exec.Command(words[0], words[1:]...)
	command.Stderr = os.Stderr
	s, err := c.Connect(context.Background(),
		&mcp.CommandTransport{Command: command}, nil)
	return gosdkHost{s}, err
}
