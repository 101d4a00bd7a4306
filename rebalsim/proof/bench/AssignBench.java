import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Times Kafka's own assignors in a warm JVM. Arguments: MILLIS, then cases as ASSIGNOR:MEMBERS:TOPICS:PARTITIONS_PER_TOPIC:SHAPE.
 * Each case is repeated for at least MILLIS (and five times) after as much warming up; the best time counts, as on the other side.
 * A line per case: the argument, best ms and checksum of the first assignment, best ms and checksum after one member joined.
 */
public class AssignBench {
    public static void main(String[] arguments) {
        long budget = Long.parseLong(arguments[0]) * 1_000_000L;
        for (int i = 1; i < arguments.length; i++) {
            String[] part = arguments[i].split(":");
            Case c = new Case(part[0], Integer.parseInt(part[1]), Integer.parseInt(part[2]), Integer.parseInt(part[3]), part[4].equals("unequal"));
            c.run(budget);
            c.best = new double[]{Double.MAX_VALUE, Double.MAX_VALUE};
            c.run(budget);
            System.out.printf("%s %.4f %d %.4f %d%n", arguments[i], c.best[0], c.checksum[0], c.best[1], c.checksum[1]);
        }
    }

    static final class Case {
        final String assignor;
        final int members;
        final int topics;
        final boolean unequal;
        final Cluster cluster;
        double[] best = {Double.MAX_VALUE, Double.MAX_VALUE};
        final long[] checksum = new long[2];

        Case(String assignor, int members, int topics, int partitions, boolean unequal) {
            this.assignor = assignor;
            this.members = members;
            this.topics = topics;
            this.unequal = unequal;
            Node node = new Node(0, "host", 9092);
            List<PartitionInfo> all = new ArrayList<>();
            for (int t = 0; t < topics; t++)
                for (int p = 0; p < partitions; p++)
                    all.add(new PartitionInfo("t" + t, p, node, new Node[]{node}, new Node[]{node}));
            cluster = new Cluster("bench", List.of(node), all, Collections.emptySet(), Collections.emptySet());
        }

        void run(long budget) {
            long until = System.nanoTime() + budget;
            for (int repeat = 0; repeat < 5 || System.nanoTime() < until; repeat++) {
                Map<String, Assignment> first = time(0, subscriptions(members, null));
                time(1, subscriptions(members + 1, first));
            }
        }

        Map<String, Assignment> time(int which, Map<String, Subscription> subscriptions) {
            ConsumerPartitionAssignor subject = assignor.equals("range") ? new RangeAssignor() : new CooperativeStickyAssignor();
            GroupSubscription group = new GroupSubscription(subscriptions);
            long begin = System.nanoTime();
            Map<String, Assignment> answer = subject.assign(cluster, group).groupAssignment();
            best[which] = Math.min(best[which], (System.nanoTime() - begin) / 1e6);
            if (checksum[which] == 0) checksum[which] = checksum(answer);
            return answer;
        }

        Map<String, Subscription> subscriptions(int count, Map<String, Assignment> before) {
            Map<String, Subscription> made = new HashMap<>();
            for (int i = 0; i < count; i++) {
                String id = String.format("c%d-%08x", i, (i * 2654435761L + 12345) & 0xffffffffL);
                List<String> wanted = new ArrayList<>();
                for (int t = 0; t < topics; t++)
                    if (!unequal || (i * 7 + t * 3) % 4 != 0) wanted.add("t" + t);
                Assignment had = before == null ? null : before.get(id);
                made.put(id, new Subscription(wanted, null, had == null ? List.of() : had.partitions(), had == null ? -1 : 1, Optional.empty()));
            }
            return made;
        }

        static long checksum(Map<String, Assignment> answer) {
            CRC32 sum = new CRC32();
            new TreeMap<>(answer).forEach((member, assignment) -> {
                List<String> names = new ArrayList<>();
                for (TopicPartition p : assignment.partitions()) names.add(p.toString());
                Collections.sort(names);
                sum.update((member + "=" + String.join(",", names) + "\n").getBytes());
            });
            return sum.getValue();
        }
    }
}
