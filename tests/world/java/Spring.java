// A server of Spring AI 2.x on WebMVC: see ../README. The tools are those of
// Server.java.

import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.McpSyncServer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;

@SpringBootConfiguration
@EnableAutoConfiguration
public class Spring {
	static boolean stateless() {
		return Server.mode.contains("stateless");
	}

	@Bean
	List<McpServerFeatures.SyncToolSpecification> tools() {
		return stateless() ? List.of() : Server.toolsWithSessions();
	}

	@Bean
	List<McpServerFeatures.SyncResourceSpecification> resources() {
		return stateless() ? List.of() : List.of(Server.resource());
	}

	@Bean
	List<McpServerFeatures.SyncPromptSpecification> prompts() {
		return stateless() ? List.of() : List.of(Server.prompt());
	}

	@Bean
	List<McpStatelessServerFeatures.SyncToolSpecification> toolsAlone() {
		return stateless() ? Server.toolsWithoutSessions() : List.of();
	}

	@EventListener
	void ready(ApplicationReadyEvent event) {
		ObjectProvider<McpSyncServer> servers =
		    event.getApplicationContext().getBeanProvider(
		    McpSyncServer.class);
		Server.server = servers.getIfAvailable();
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("modes")) {
			System.out.println(Server.MODES);
			return;
		}
		Server.folder = Path.of(args[2]);
		Server.mode = Set.of(args[3]);
		Server.mapper = Server.newMapper();
		Map<String, Object> settings = new HashMap<>(Map.of(
		    "server.address", "127.0.0.1", "server.port", args[0],
		    "spring.ai.mcp.server.name", "world",
		    "spring.ai.mcp.server.request-timeout", "10m",
		    "spring.ai.mcp.server.protocol",
		    stateless() ? "STATELESS" : "STREAMABLE",
		    "spring.main.banner-mode", "off",
		    "spring.mvc.async.request-timeout", "10m",
		    "logging.level.root", "off"));
		if (Server.mode.contains("keepalive"))
			settings.put("server.tomcat.keep-alive-timeout", "1s");
		SpringApplication application = new SpringApplication(Spring.class);
		application.setDefaultProperties(settings);
		application.run();
	}
}
