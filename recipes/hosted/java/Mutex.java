import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * Curator's InterProcessMutex.
 *
 * <pre>zoocheck drive --program 'recipes/hosted/java/curator run Mutex' --promises fair-lock=/lock</pre>
 */
public final class Mutex {
    private Mutex() {}

    public static void main(String[] arguments) throws Exception {
        Probe.run((client, probe) -> {
            InterProcessMutex lock = new InterProcessMutex(client, "/lock");
            for (int round = 0; round < probe.rounds(); round++) {
                probe.attempts("/lock");
                lock.acquire();
                probe.enters("/lock");
                probe.writes();
                probe.works();
                probe.writes();
                probe.leaves("/lock");
                lock.release();
                probe.released("/lock");
            }
        });
    }
}
