/*
 * The messages of the measurement, and a direct HTTP call by the driver's own
 * socket: the shortest way to the server there is.
 */
#include "rpc.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RPC_WAIT_MS 20000

#define META                                                                   \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"              \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

bool rpc_modern;

const char *
rpc_start(void)
{
	if (rpc_modern)
		return "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
		       "\"server/discover\",\"params\":{" META "}}\n";
	return "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
	       "\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	       "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\","
	       "\"version\":\"1\"}}}\n";
}

const char *
rpc_started(void)
{
	return rpc_modern ? "" :
			    "{\"jsonrpc\":\"2.0\",\"method\":"
			    "\"notifications/initialized\"}\n";
}

int
rpc_call(char *out, size_t size, int id, const char *tool)
{
	return snprintf(out, size,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
	    "\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":"
	    "{\"message\":\"hello\"}%s}}\n",
	    id, tool, rpc_modern ? "," META : "");
}

int
rpc_list(char *out, size_t size, int id)
{
	return snprintf(out, size,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}\n", id);
}

int
rpc_answer_id(const char *line)
{
	const char *id = strstr(line, "\"id\":");

	if (strstr(line, "\"method\":") != NULL)
		return -1;
	if (id == NULL || strstr(line, "\"result\":") == NULL)
		return -2;
	return (int)strtol(id + 5, NULL, 10);
}

int
rpc_connect(const char *url)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	const char *colon = strrchr(url, ':');
	struct timeval tv = { RPC_WAIT_MS / 1000, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (colon != NULL)
		sin.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	if (fd < 0 || connect(fd, (struct sockaddr *)&sin, sizeof sin) != 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	return fd;
}

int
rpc_direct(int fd, int id)
{
	char body[256], buf[4096], *end = NULL, *length;
	int n = rpc_call(body, sizeof body, id, "echo");
	size_t have = 0, want = sizeof buf;
	ssize_t r;

	n = snprintf(buf, sizeof buf,
	    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	    "Content-Type: application/json\r\nAccept: application/json, "
	    "text/event-stream\r\nMcp-Session-Id: 5f0c3bd2-bench\r\n"
	    "Content-Length: %d\r\n\r\n%s",
	    n, body);
	if (send(fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
		return -1;
	while (have < want) {
		r = recv(fd, buf + have, sizeof buf - 1 - have, 0);
		if (r <= 0)
			return -1;
		have += (size_t)r;
		buf[have] = '\0';
		if (end == NULL && (end = strstr(buf, "\r\n\r\n")) != NULL) {
			length = strstr(buf, "Content-Length: ");
			if (length == NULL)
				return -1;
			want = (size_t)(end + 4 - buf) +
			    strtoul(length + 16, NULL, 10);
		}
	}
	return rpc_answer_id(end + 4) == id ? 0 : -1;
}
