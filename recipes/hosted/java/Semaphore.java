import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/**
 * Curator's InterProcessSemaphoreV2 with one lease, which is a lock that says nothing of an order.
 *
 * <pre>zoocheck drive --program 'recipes/hosted/java/curator run Semaphore' --promises lock=/semaphore</pre>
 */
public final class Semaphore {
    private Semaphore() {}

    public static void main(String[] arguments) throws Exception {
        Probe.run((client, probe) -> {
            InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, "/semaphore", 1);
            for (int round = 0; round < probe.rounds(); round++) {
                probe.attempts("/semaphore");
                Lease lease = semaphore.acquire();
                probe.enters("/semaphore", "leases/" + lease.getNodeName());
                probe.writes();
                probe.works();
                probe.writes();
                probe.leaves("/semaphore");
                lease.close();
                probe.released("/semaphore");
            }
        });
    }
}
