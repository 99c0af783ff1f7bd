/* Paths of Linux and of macOS stand side by side: the one that is there
 * counts. */
#include "config.h"

#include "tools/wrap_hosts.h"

#include <ctype.h>
#include <string.h>

#define MAC "Library/Application Support/"
#define CLINE "User/globalStorage/saoudrizwan.claude-dev/settings/"
#define ROO "User/globalStorage/rooveterinaryinc.roo-cline/settings/"

const struct wrap_host wrap_hosts[] = {
	{ "Claude Code", ".claude.json" },
	{ "Claude Desktop", ".config/Claude/claude_desktop_config.json" },
	{ "Claude Desktop", MAC "Claude/claude_desktop_config.json" },
	{ "Cursor", ".cursor/mcp.json" },
	{ "VS Code", ".config/Code/User/mcp.json" },
	{ "VS Code", MAC "Code/User/mcp.json" },
	{ "VS Code", ".config/Code/User/settings.json" },
	{ "VS Code", MAC "Code/User/settings.json" },
	{ "Cline", ".config/Code/" CLINE "cline_mcp_settings.json" },
	{ "Cline", MAC "Code/" CLINE "cline_mcp_settings.json" },
	{ "Cline CLI", ".cline/data/settings/cline_mcp_settings.json" },
	{ "Roo Code", ".config/Code/" ROO "mcp_settings.json" },
	{ "Roo Code", MAC "Code/" ROO "mcp_settings.json" },
	{ "Windsurf", ".codeium/windsurf/mcp_config.json" },
	{ "Zed", ".config/zed/settings.json" },
	{ "Gemini CLI", ".gemini/settings.json" },
	{ "Qwen Code", ".qwen/settings.json" },
	{ "Copilot CLI", ".copilot/mcp-config.json" },
	{ "opencode", ".config/opencode/opencode.json" },
	{ "opencode", ".config/opencode/opencode.jsonc" },
	{ "Amp", ".config/amp/settings.json" },
	{ "LM Studio", ".lmstudio/mcp.json" },
	{ "JetBrains Junie", ".junie/mcp/mcp.json" },
	{ "Codex", ".codex/config.toml" },
	{ "Continue", ".continue/config.yaml" },
	{ "Goose", ".config/goose/config.yaml" },
};

const size_t wrap_hosts_n = sizeof wrap_hosts / sizeof wrap_hosts[0];

bool
wrap_hosts_windows(const char *path, bool in_wsl)
{
	return in_wsl && strncmp(path, "/mnt/", 5) == 0 &&
	    isalpha((unsigned char)path[5]) && path[6] == '/';
}

enum wrap_format
wrap_hosts_format(const char *path)
{
	const char *end = strrchr(path, '.');

	if (end == NULL)
		return WRAP_BY_HAND;
	if (strcmp(end, ".toml") == 0)
		return WRAP_TOML;
	return strcmp(end, ".json") == 0 || strcmp(end, ".jsonc") == 0 ||
		strcmp(end, ".json5") == 0 ||
		strcmp(end, ".code-workspace") == 0 ?
	    WRAP_JSON :
	    WRAP_BY_HAND;
}
