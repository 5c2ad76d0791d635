import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;

/**
 * What all programs here share: one client process of {@code zoocheck drive}, and the words by which it says what it
 * does. Whatever it says has been heard when the word returns.
 */
final class Probe {
    /** What a program does with its client. It has come to its end when it returns. */
    interface Program {
        void run(CuratorFramework client, Probe probe) throws Exception;
    }

    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Map<String, String> told = System.getenv();
    private final AtomicLong session = new AtomicLong();

    private Probe() {}

    /** Runs a program as a client process, and does not return. */
    static void run(Program program) throws Exception {
        Probe probe = new Probe();
        CuratorFramework client = probe.client();
        String end = "done";
        try {
            program.run(client, probe);
        } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException error) {
            // Every method of Curator's may raise these. A program that has one begins anew, with another session.
            error.printStackTrace();
            end = "session-lost";
        } catch (Exception error) {
            error.printStackTrace();
            end = "failed";
        }
        probe.says("finishes", quoted(end));
        if (end.equals("session-lost")) {
            // Not before it has said why: who closes a session that lives ends for want of no other.
            client.close();
        }
        // Its session stays, so that what it has left behind can be judged. It ends when whoever started it is gone.
        System.in.readAllBytes();
        System.exit(0);
    }

    private CuratorFramework client() throws Exception {
        int timeoutMs = number("SESSION_TIMEOUT_MS");
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(told.get("ZOOCHECK_SERVERS"))
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
        return client;
    }

    /** Unlike those of others, and of its own earlier lives. */
    String name() {
        return told.get("ZOOCHECK_NAME");
    }

    /** Whether none of its processes has begun before this one. */
    boolean isFirstLife() {
        return !name().contains(".");
    }

    /** The client's number, from 0. */
    int number() {
        return number("CLIENT");
    }

    /** How many clients there are. */
    int clients() {
        return number("CLIENTS");
    }

    /** How often it is to do what it does; less in a later life. */
    int rounds() {
        return number("ROUNDS");
    }

    private int number(String name) {
        return Integer.parseInt(told.get("ZOOCHECK_" + name));
    }

    /** It begins to ask for the lock. */
    void attempts(String lock) throws Exception {
        says("attempts", quoted(lock));
    }

    /** It has the lock, by no znode that it knows of, and enters the critical section. */
    void enters(String lock) throws Exception {
        says("enters", quoted(lock));
    }

    /** It has the lock, by this znode, and enters the critical section. */
    void enters(String lock, String node) throws Exception {
        says("enters", quoted(lock) + ",\"node\":" + quoted(node));
    }

    /** Writes to the resource that the lock is to protect. */
    void writes() throws Exception {
        says("writes", quoted("unfenced"));
    }

    /** Works for a while, at times longer than a session lives in silence. */
    void works() throws Exception {
        says("works", "true");
    }

    /** It leaves the critical section, and still holds the lock. */
    void leaves(String lock) throws Exception {
        says("leaves", quoted(lock));
    }

    /** It has given the lock back. */
    void released(String lock) throws Exception {
        says("released", quoted(lock));
    }

    /** Anything else that a promise looks for. */
    void notes(String what, String about, int number) throws Exception {
        says("notes", of(what, about, number));
    }

    /** The same; what begins here has not come to its end before {@code ends}. */
    void begins(String what, String about, int number) throws Exception {
        says("begins", of(what, about, number));
    }

    /** What began about this is over. */
    void ends(String what, String about, int number) throws Exception {
        says("ends", of(what, about, number));
    }

    private static String of(String what, String about, int number) {
        return quoted(about) + ",\"what\":" + quoted(what) + ",\"number\":" + number;
    }

    /** No path and no word here has anything in it that JSON would escape. */
    private static String quoted(String text) {
        return '"' + text + '"';
    }

    /** Curator opens another session by itself, and goes on with what it was about. */
    private void connects(CuratorFramework client) {
        try {
            long now = client.getZookeeperClient().getZooKeeper().getSessionId();
            if (now != 0 && session.getAndSet(now) != now) {
                says("connects", "true");
            }
        } catch (Exception error) {
            // It is lost again: the next one will be told.
        }
    }

    private void says(String word, String value) throws Exception {
        String body = String.format("{\"session\":\"0x%x\",\"client\":%d,\"%s\":%s}",
                session.get(), number(), word, value);
        HttpRequest request = HttpRequest.newBuilder(URI.create(told.get("ZOOCHECK_CONTROL") + "/observe"))
                .timeout(Duration.ofMinutes(1))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(body + ": " + answer.body().strip());
        }
    }
}
