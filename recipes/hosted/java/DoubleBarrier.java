import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.zookeeper.CreateMode;

/**
 * Curator's DistributedDoubleBarrier: all clients enter together, and leave together.
 *
 * <pre>zoocheck drive --program 'recipes/hosted/java/curator run DoubleBarrier' --promises double-barrier=/barrier \
 *     --rounds 1 --set fault-seconds=5 --set faults.client-crashes=0</pre>
 *
 * That they do so is not judged in real time, so the program itself says where they do not, by an error: `no-failure`
 * tells of it. To that end each makes marks: that it has arrived, which stays, and that it is here, which goes with its
 * session. After a write of its own it sees all marks that were made before. Only first lives say that they are here: a
 * later one may come to a round that others are leaving.
 *
 * Who waits to leave has left the critical section and asks anew, so that `no-waiter-stuck` tells of one that waits for
 * ever.
 */
public final class DoubleBarrier {
    private static final String BARRIER = "/barrier";

    private DoubleBarrier() {}

    public static void main(String[] arguments) throws Exception {
        Probe.run((client, probe) -> {
            for (int round = 0; round < probe.rounds(); round++) {
                passes(client, probe, "/marks/" + round);
            }
        });
    }

    private static void passes(CuratorFramework client, Probe probe, String marks) throws Exception {
        int size = probe.clients();
        String own = "/" + probe.name(), here = marks + "/here" + own;
        DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client, BARRIER, size);
        marks(client, marks + "/arrived" + own, CreateMode.PERSISTENT);
        if (probe.isFirstLife()) {
            marks(client, here, CreateMode.EPHEMERAL);
        }
        probe.notes("arrives at", BARRIER, size);
        probe.attempts(BARRIER);
        barrier.enter();
        probe.enters(BARRIER);
        probe.notes("passes", BARRIER, size);
        marks(client, marks + "/passed" + own, CreateMode.PERSISTENT);
        List<String> arrived = client.getChildren().forPath(marks + "/arrived");
        if (arrived.size() < size) {
            throw new IllegalStateException("it passes with " + arrived + ", and " + size + " are needed");
        }
        probe.works();
        client.delete().quietly().forPath(here);
        probe.notes("asks to leave", BARRIER, size);
        probe.leaves(BARRIER);
        probe.attempts(BARRIER);
        barrier.leave();
        probe.released(BARRIER);
        probe.notes("has left", BARRIER, size);
        marks(client, marks + "/left" + own, CreateMode.PERSISTENT);
        List<String> others = client.getChildren().forPath(marks + "/here");
        if (!others.isEmpty()) {
            throw new IllegalStateException("it has left, and " + others + " have not asked to");
        }
    }

    private static void marks(CuratorFramework client, String path, CreateMode mode) throws Exception {
        client.create().orSetData().creatingParentsIfNeeded().withMode(mode).forPath(path);
    }
}
