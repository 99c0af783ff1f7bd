#!/bin/sh
claude mcp add --env EXAMPLE_TOKEN="$EXAMPLE_TOKEN" --transport stdio example \
    -- /usr/local/bin/mcpsplice https://mcp.example.com/mcp \
    --bearer-env EXAMPLE_TOKEN
