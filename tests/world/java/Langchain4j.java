// The client of langchain4j as a host: what ../client.py says. It answers no
// question but that for the roots, and that only if its id is a number: any
// other it takes for 0. It asks for no progress.

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.mcp.client.DefaultMcpClient;
import dev.langchain4j.mcp.client.McpClient;
import dev.langchain4j.mcp.client.McpRoot;
import dev.langchain4j.mcp.client.transport.stdio.StdioMcpTransport;
import dev.langchain4j.service.tool.ToolExecutionResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

public class Langchain4j implements Host.Talk {
	final McpClient client;

	Langchain4j(List<String> words) {
		client = DefaultMcpClient.builder()
		    .transport(StdioMcpTransport.builder().command(words)
		    .environment(System.getenv()).build())
		    .roots(List.of(new McpRoot("r", "file:///r")))
		    .initializationTimeout(Duration.ofMinutes(2))
		    .toolExecutionTimeout(Duration.ofMinutes(10))
		    .build();
	}

	// It does not tell.
	public String revision() {
		return "";
	}

	public String list() {
		return client.listTools().stream().map(ToolSpecification::name)
		    .collect(Collectors.joining(" "));
	}

	public String call(String tool, String key) throws Exception {
		ToolExecutionResult result = client.executeTool(
		    ToolExecutionRequest.builder().name(tool)
		    .arguments("{\"key\":" + Host.quoted(key) + "}").build());
		if (result.isError())
			throw new Exception(result.resultText());
		return result.resultText();
	}

	public void end() throws Exception {
		client.close();
	}

	public static void main(String[] args) throws Exception {
		Host.run(new Langchain4j(Arrays.asList(args)),
		    ",\"progress\":false,\"answers\":[\"roots\"],"
		    + "\"strings\":false");
	}
}
