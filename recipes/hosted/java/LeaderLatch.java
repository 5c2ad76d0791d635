/**
 * Curator's LeaderLatch: each leads for a while, once in a round, by a latch of its own.
 *
 * <pre>zoocheck drive --program 'recipes/hosted/java/curator run LeaderLatch' --promises fair-lock=/latch</pre>
 */
public final class LeaderLatch {
    private LeaderLatch() {}

    public static void main(String[] arguments) throws Exception {
        Probe.run((client, probe) -> {
            for (int round = 0; round < probe.rounds(); round++) {
                probe.attempts("/latch");
                var latch = new org.apache.curator.framework.recipes.leader.LeaderLatch(client, "/latch", probe.name());
                latch.start();
                latch.await();
                probe.enters("/latch", latch.getLastPathIsLeader());
                probe.writes();
                probe.works();
                probe.writes();
                probe.leaves("/latch");
                latch.close();
                probe.released("/latch");
            }
        });
    }
}
