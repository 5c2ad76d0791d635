import org.apache.curator.framework.recipes.shared.VersionedValue;

/**
 * Curator's SharedCount: each adds one in a round.
 *
 * <pre>zoocheck drive --program 'recipes/hosted/java/curator run SharedCount' --promises counter=/count \
 *     --rounds 10 --set faults.client-crashes=0</pre>
 *
 * What the count shows is not judged in real time, so the program itself says where it is wrong, by an error:
 * `no-failure` tells of it. Whoever dies has perhaps added what it has not said; so nobody dies here.
 */
public final class SharedCount {
    private static final String COUNT = "/count", THROUGH = "/through";

    private SharedCount() {}

    public static void main(String[] arguments) throws Exception {
        Probe.run((client, probe) -> {
            try (var count = new org.apache.curator.framework.recipes.shared.SharedCount(client, COUNT, 0)) {
                count.start();
                for (int round = 0; round < probe.rounds(); round++) {
                    probe.begins("adds", COUNT, 1);
                    add(count, 1);
                    probe.ends("has added", COUNT, 1);
                    probe.works();
                }
                client.create().orSetData().creatingParentsIfNeeded().forPath(THROUGH + "/" + probe.number());
                while (client.getChildren().forPath(THROUGH).size() < probe.clients()) {
                    Thread.sleep(100);
                }
                int added = probe.clients() * probe.rounds();
                // A write, so that it is what the count is, not what it was.
                int shown = add(count, 0);
                if (shown != added) {
                    throw new IllegalStateException(COUNT + " shows " + shown + ", and " + added + " were added");
                }
            }
        });
    }

    /** Gives the sum. */
    private static int add(org.apache.curator.framework.recipes.shared.SharedCount count, int number) throws Exception {
        while (true) {
            VersionedValue<Integer> before = count.getVersionedValue();
            if (count.trySetCount(before, before.getValue() + number)) {
                return before.getValue() + number;
            }
        }
    }
}
