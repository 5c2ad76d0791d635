import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's InterProcessMutex, as a client program of {@code zoocheck drive}.
 *
 * <pre>zoocheck drive --program 'recipes/hosted/java/curator run Mutex' --promises fair-lock=/lock</pre>
 */
public final class Mutex {
    private static final Map<String, String> TOLD = System.getenv();
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final AtomicLong SESSION = new AtomicLong();

    private Mutex() {}

    public static void main(String[] arguments) throws Exception {
        int timeoutMs = Integer.parseInt(TOLD.get("ZOOCHECK_SESSION_TIMEOUT_MS"));
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(TOLD.get("ZOOCHECK_SERVERS"))
                .sessionTimeoutMs(timeoutMs)
                .connectionTimeoutMs(timeoutMs)
                .retryPolicy(new ExponentialBackoffRetry(50, 29, 500))
                .build();
        client.getConnectionStateListenable().addListener((it, state) -> {
            if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) {
                connects(it);
            }
        });
        client.start();
        client.blockUntilConnected();
        connects(client);
        String end = "done";
        try {
            rounds(new InterProcessMutex(client, "/lock"), Integer.parseInt(TOLD.get("ZOOCHECK_ROUNDS")));
        } catch (Exception error) {
            error.printStackTrace();
            end = "failed";
        }
        says("finishes", '"' + end + '"');
        // Its session stays, so that what it has left behind can be judged. It ends when whoever started it is gone.
        System.in.readAllBytes();
        System.exit(0);
    }

    private static void rounds(InterProcessMutex lock, int rounds) throws Exception {
        for (int round = 0; round < rounds; round++) {
            says("attempts", "\"/lock\"");
            lock.acquire();
            says("enters", "\"/lock\"");
            says("writes", "\"unfenced\"");
            says("works", "true");
            says("writes", "\"unfenced\"");
            says("leaves", "\"/lock\"");
            lock.release();
            says("released", "\"/lock\"");
        }
    }

    /** Curator opens another session by itself, and goes on with what it was about. */
    private static void connects(CuratorFramework client) {
        try {
            long session = client.getZookeeperClient().getZooKeeper().getSessionId();
            if (session != 0 && SESSION.getAndSet(session) != session) {
                says("connects", "true");
            }
        } catch (Exception error) {
            // It is lost again: the next one will be told.
        }
    }

    /** Has been heard when it returns. */
    private static void says(String word, String value) throws Exception {
        String body = String.format("{\"session\":\"0x%x\",\"client\":%s,\"%s\":%s}",
                SESSION.get(), TOLD.get("ZOOCHECK_CLIENT"), word, value);
        HttpRequest request = HttpRequest.newBuilder(URI.create(TOLD.get("ZOOCHECK_CONTROL") + "/observe"))
                .timeout(Duration.ofMinutes(1))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(body + ": " + answer.body().strip());
        }
    }
}
