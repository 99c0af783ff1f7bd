// A client of the Java SDK, 0.12 to 2.x, as a host: what ../client.py says.

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

class Client implements Host.Talk {
	final McpAsyncClient client;
	final String revision;

	static StdioClientTransport transport(ServerParameters server)
	    throws Exception {
		// 0.12 takes a mapper of another kind
		for (var made : StdioClientTransport.class.getConstructors())
			if (made.getParameterCount() == 2)
				return (StdioClientTransport)made.newInstance(server,
				    Server.mapper);
		throw new NoSuchMethodException("StdioClientTransport");
	}

	Client(List<String> words) throws Exception {
		Server.mapper = Server.newMapper();
		StdioClientTransport stdio = transport(
		    ServerParameters.builder(words.get(0))
		    .args(words.subList(1, words.size())).env(System.getenv())
		    .build());
		stdio.setStdErrorHandler(System.err::println);
		client = McpClient.async(stdio)
		    .requestTimeout(Duration.ofMinutes(10))
		    .initializationTimeout(Duration.ofMinutes(2))
		    .capabilities(Server.parse("{\"sampling\":{},\"roots\":{},"
		    + "\"elicitation\":{}}", McpSchema.ClientCapabilities.class))
		    .roots(Server.parse("{\"uri\":\"file:///r\",\"name\":\"r\"}",
		    McpSchema.Root.class))
		    .sampling(q -> Mono.just(Server.parse("{\"role\":\"assistant\","
		    + "\"content\":{\"type\":\"text\",\"text\":\"m\"},"
		    + "\"model\":\"m\"}", McpSchema.CreateMessageResult.class)))
		    .elicitation(q -> Mono.just(Server.parse(
		    "{\"action\":\"accept\",\"content\":{\"sure\":true}}",
		    McpSchema.ElicitResult.class)))
		    .toolsChangeConsumer(t -> heard("tools/list_changed"))
		    .progressConsumer(p -> heard("progress"))
		    .build();
		revision = client.initialize().block().protocolVersion();
	}

	static Mono<Void> heard(String what) {
		return Mono.fromRunnable(() ->
		    Host.note("notifications/" + what));
	}

	// What the request brings. Up to 1.1.5 two that are sent at once fail:
	// "Failed to enqueue message".
	<T> T wait(Mono<T> request) throws Exception {
		CompletableFuture<T> result;
		synchronized (this) {
			result = request.toFuture();
		}
		try {
			return result.get();
		} catch (ExecutionException e) {
			throw new Exception(e.getCause().getMessage());
		}
	}

	public String revision() {
		return revision;
	}

	public String list() throws Exception {
		return wait(client.listTools()).tools().stream()
		    .map(McpSchema.Tool::name).collect(Collectors.joining(" "));
	}

	public String call(String tool, String key) throws Exception {
		McpSchema.CallToolResult result = wait(client.callTool(Server.parse(
		    "{\"name\":" + Server.quoted(tool) + ",\"arguments\":{\"key\":"
		    + Server.quoted(key) + "},\"_meta\":{\"progressToken\":"
		    + Server.quoted(key) + "}}", McpSchema.CallToolRequest.class)));
		String text = ((McpSchema.TextContent)result.content().get(0))
		    .text();
		if (Boolean.TRUE.equals(result.isError()))
			throw new Exception(text);
		return text;
	}

	public void end() {
		client.closeGracefully().block();
	}

	public static void main(String[] args) throws Exception {
		// it has a handler of its own for urls, from 2.0 on
		Host.run(new Client(Arrays.asList(args)),
		    ",\"answers\":[\"sample\",\"form\",\"roots\"]");
	}
}
