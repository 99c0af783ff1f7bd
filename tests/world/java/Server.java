// A server of the Java SDK, 0.12 to 2.x, on Tomcat: see ../README. What a
// release calls otherwise is looked up when it runs.

import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

public class Server {
	static final String URI = "world://text";
	static final String MODES = ",stateless,keepalive";
	static Path folder;
	static Set<String> mode;
	static McpSyncServer server;
	static Object mapper;

	// What a tool does; exchange is null without sessions.
	interface Run {
		String go(McpSyncServerExchange exchange,
		    McpSchema.CallToolRequest request, String key) throws Exception;
	}

	static Object newMapper() throws Exception {
		String[][] ways = {
			{"io.modelcontextprotocol.json.McpJsonDefaults", "getMapper"},
			{"io.modelcontextprotocol.json.McpJsonMapper", "getDefault"}};
		for (String[] way : ways) {
			try {
				return Class.forName(way[0]).getMethod(way[1]).invoke(null);
			} catch (ReflectiveOperationException e) {
				// another release
			}
		}
		return Class.forName("com.fasterxml.jackson.databind.ObjectMapper")
		    .getConstructor().newInstance();
	}

	static <T> T parse(String json, Class<T> type) {
		try {
			Method read = mapper.getClass().getMethod("readValue",
			    String.class, Class.class);
			read.setAccessible(true);
			return type.cast(read.invoke(mapper, json, type));
		} catch (ReflectiveOperationException e) {
			throw new IllegalStateException(json, e);
		}
	}

	// The mapper is a thing that each builder of 0.12 wants.
	static <B> B withMapper(B builder) throws Exception {
		for (Method m : builder.getClass().getMethods())
			if (m.getName().equals("objectMapper"))
				m.invoke(builder, mapper);
		return builder;
	}

	static String quoted(String text) {
		return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
	}

	static McpSchema.CallToolResult text(String text) {
		return parse("{\"content\":[{\"type\":\"text\",\"text\":"
		    + quoted(text) + "}],\"isError\":false}",
		    McpSchema.CallToolResult.class);
	}

	static synchronized void count(String tool, String key) {
		try {
			Files.writeString(folder.resolve("runs"),
			    tool + " " + key + "\n", StandardOpenOption.CREATE,
			    StandardOpenOption.APPEND);
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	static void progress(McpSyncServerExchange exchange,
	    McpSchema.CallToolRequest request, int done) {
		Object token = request.meta() == null ? null
		    : request.meta().get("progressToken");
		if (exchange != null && token != null)
			exchange.progressNotification(parse("{\"progressToken\":"
			    + (token instanceof Number ? token : quoted("" + token))
			    + ",\"progress\":" + done + "}",
			    McpSchema.ProgressNotification.class));
	}

	static String slow(McpSyncServerExchange exchange,
	    McpSchema.CallToolRequest request, String key) throws Exception {
		progress(exchange, request, 1);
		while (!Files.exists(folder.resolve("go-" + key)))
			Thread.sleep(20);
		progress(exchange, request, 2);
		return null;
	}

	static Map<String, Run> tools() {
		Map<String, Run> all = new LinkedHashMap<>();
		all.put("safe", (e, r, k) -> null);
		all.put("unsafe", (e, r, k) -> null);
		all.put("slow", Server::slow);
		all.put("slow_safe", Server::slow);
		all.put("big", (e, r, k) -> "x".repeat(1000000));
		all.put("boom", (e, r, k) -> {
			throw new IllegalStateException("kaboom");
		});
		all.put("expired", (e, r, k) -> {
			throw new IllegalStateException(
			    "Session not found: the session has expired");
		});
		if (mode.contains("stateless"))
			return all;
		all.put("log", (e, r, k) -> {
			e.loggingNotification(parse("{\"level\":\"warning\",\"logger\":"
			    + "\"world\",\"data\":" + quoted("log " + k) + "}",
			    McpSchema.LoggingMessageNotification.class));
			return null;
		});
		all.put("touch", (e, r, k) -> {
			server.notifyResourcesUpdated(parse("{\"uri\":\"" + URI
			    + "\"}", McpSchema.ResourcesUpdatedNotification.class));
			server.notifyToolsListChanged();
			return null;
		});
		all.put("sample", (e, r, k) -> {
			e.createMessage(parse("{\"messages\":[{\"role\":\"user\","
			    + "\"content\":{\"type\":\"text\",\"text\":\"hi\"}}],"
			    + "\"maxTokens\":10}",
			    McpSchema.CreateMessageRequest.class));
			return null;
		});
		all.put("form", (e, r, k) -> {
			e.createElicitation(parse("{\"message\":\"sure?\","
			    + "\"requestedSchema\":{\"type\":\"object\",\"properties\":"
			    + "{\"sure\":{\"type\":\"boolean\"}}}}",
			    McpSchema.ElicitRequest.class));
			return null;
		});
		all.put("roots", (e, r, k) -> {
			e.listRoots();
			return null;
		});
		return all;
	}

	static McpSchema.Tool described(String name) {
		return parse("{\"name\":\"" + name + "\",\"description\":\"\","
		    + "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"key\":"
		    + "{\"type\":\"string\"}},\"required\":[\"key\"]},"
		    + "\"annotations\":{\"readOnlyHint\":"
		    + (name.equals("safe") || name.equals("slow_safe")) + "}}",
		    McpSchema.Tool.class);
	}

	static McpSchema.CallToolResult run(String name, Run run,
	    McpSyncServerExchange exchange, McpSchema.CallToolRequest request) {
		String key = String.valueOf(request.arguments().get("key"));
		count(name, key);
		try {
			String said = run.go(exchange, request, key);
			return text(said == null ? name + " " + key : said);
		} catch (RuntimeException e) {
			throw e;
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	static List<McpServerFeatures.SyncToolSpecification> toolsWithSessions() {
		List<McpServerFeatures.SyncToolSpecification> all = new ArrayList<>();
		tools().forEach((name, run) -> all.add(
		    McpServerFeatures.SyncToolSpecification.builder()
		    .tool(described(name))
		    .callHandler((e, r) -> run(name, run, e, r)).build()));
		return all;
	}

	static List<McpStatelessServerFeatures.SyncToolSpecification>
	    toolsWithoutSessions() {
		List<McpStatelessServerFeatures.SyncToolSpecification> all =
		    new ArrayList<>();
		tools().forEach((name, run) -> all.add(
		    McpStatelessServerFeatures.SyncToolSpecification.builder()
		    .tool(described(name))
		    .callHandler((c, r) -> run(name, run, null, r)).build()));
		return all;
	}

	static McpServerFeatures.SyncResourceSpecification resource() {
		var read = parse("{\"contents\":[{\"uri\":\"" + URI
		    + "\",\"mimeType\":\"text/plain\",\"text\":\"text\"}]}",
		    McpSchema.ReadResourceResult.class);
		return new McpServerFeatures.SyncResourceSpecification(
		    parse("{\"uri\":\"" + URI + "\",\"name\":\"text\","
		    + "\"description\":\"\",\"mimeType\":\"text/plain\"}",
		    McpSchema.Resource.class), (e, r) -> read);
	}

	static McpServerFeatures.SyncPromptSpecification prompt() {
		return new McpServerFeatures.SyncPromptSpecification(
		    parse("{\"name\":\"hello\",\"description\":\"\",\"arguments\":"
		    + "[{\"name\":\"name\",\"description\":\"\"}]}",
		    McpSchema.Prompt.class), (e, r) -> parse(
		    "{\"description\":\"\",\"messages\":[{\"role\":\"user\","
		    + "\"content\":{\"type\":\"text\",\"text\":\"hello "
		    + r.arguments().get("name") + "\"}}]}",
		    McpSchema.GetPromptResult.class));
	}

	static HttpServlet withSessions() throws Exception {
		var transport = withMapper(
		    HttpServletStreamableServerTransportProvider.builder())
		    .mcpEndpoint("/mcp").build();
		server = McpServer.sync(transport).serverInfo("world", "1")
		    .requestTimeout(Duration.ofMinutes(10))
		    .capabilities(parse("{\"tools\":{\"listChanged\":true},"
		    + "\"resources\":{\"subscribe\":true},\"prompts\":{},"
		    + "\"logging\":{}}", McpSchema.ServerCapabilities.class))
		    .tools(toolsWithSessions()).resources(resource())
		    .prompts(prompt()).build();
		return transport;
	}

	static HttpServlet withoutSessions() throws Exception {
		var transport = withMapper(
		    HttpServletStatelessServerTransport.builder())
		    .messageEndpoint("/mcp").build();
		McpServer.sync(transport).serverInfo("world", "1")
		    .capabilities(parse("{\"tools\":{}}",
		    McpSchema.ServerCapabilities.class))
		    .tools(toolsWithoutSessions()).build();
		return transport;
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("modes")) {
			System.out.println(MODES);
			return;
		}
		if (args[0].equals("client")) {
			Client.main(Arrays.copyOfRange(args, 1, args.length));
			return;
		}
		folder = Path.of(args[2]);
		mode = Set.of(args[3]);
		mapper = newMapper();
		HttpServlet servlet = mode.contains("stateless")
		    ? withoutSessions() : withSessions();
		Tomcat tomcat = new Tomcat();
		tomcat.setBaseDir(folder.toString());
		Connector connector = new Connector();
		connector.setPort(Integer.parseInt(args[0]));
		connector.setProperty("address", "127.0.0.1");
		if (mode.contains("keepalive"))
			connector.setProperty("keepAliveTimeout", "1000");
		// a call may wait for long
		connector.setAsyncTimeout(600000);
		tomcat.setConnector(connector);
		Context context = tomcat.addContext("", folder.toString());
		Tomcat.addServlet(context, "mcp", servlet).setAsyncSupported(true);
		context.addServletMappingDecoded("/*", "mcp");
		tomcat.start();
		tomcat.getServer().await();
	}
}
