package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.locator.SimpleSnitch;
import org.apache.cassandra.locator.SimpleStrategy;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CoverageTest {

    private static TableMetadata stored;
    private static TableMetadata virtual;

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
        stored = table().build();
        virtual = table().kind(TableMetadata.Kind.VIRTUAL).build();
    }

    @ParameterizedTest
    @CsvSource({
        "ANY, 3, false",
        "ONE, 3, false",
        "LOCAL_ONE, 3, false",
        "NODE_LOCAL, 3, false",
        "SERIAL, 3, false",
        "LOCAL_SERIAL, 3, false",
        "TWO, 3, true",
        "THREE, 3, true",
        "QUORUM, 3, true",
        "LOCAL_QUORUM, 3, true",
        "ALL, 3, true",
        "QUORUM, 2, true",
        "QUORUM, 1, false",
        "ALL, 1, false",
    })
    void severalReplicasHaveToBeAsked(ConsistencyLevel level, int replicas, boolean isCovered) {
        assertEquals(isCovered, Coverage.isQuorum(level, replication(String.valueOf(replicas))));
    }

    @Test
    void aTransientReplicaHasNoAnswer() {
        assertFalse(Coverage.isQuorum(ConsistencyLevel.QUORUM, new SomeTransient()));
    }

    @Test
    void onePartitionOfAStoredTable() {
        assertTrue(Coverage.isOnePartition(group(stored, "a")));
        assertFalse(Coverage.isOnePartition(group(stored, "a", "b")));
        assertFalse(Coverage.isOnePartition(group(virtual, "a")));
        assertFalse(Coverage.isOnePartition(PartitionRangeReadCommand.allDataRead(stored, 0)));
    }

    @ParameterizedTest
    @CsvSource({
        "10, -1, -1, true",
        "10, 10, -1, true",
        "10, -1, 10, true",
        "10, 9, -1, false",
        "10, -1, 9, false",
        "10, 9, 20, false",
        "0, 0, 0, true",
    })
    void resultsKeepToTheServersLimits(long size, long warnAbove, long abortAbove, boolean isWithin) {
        assertEquals(isWithin, Coverage.isWithin(size, warnAbove, abortAbove));
    }

    private static TableMetadata.Builder table() {
        return TableMetadata.builder("ks", "t")
            .partitioner(Murmur3Partitioner.instance)
            .addPartitionKeyColumn("k", UTF8Type.instance)
            .addRegularColumn("v", UTF8Type.instance);
    }

    private static ReadQuery group(TableMetadata table, String... keys) {
        List<SinglePartitionReadCommand> reads = new ArrayList<>();
        for (String key : keys) {
            reads.add(SinglePartitionReadCommand.fullPartitionRead(table, 0, ByteBufferUtil.bytes(key)));
        }
        return SinglePartitionReadCommand.Group.create(reads, DataLimits.NONE);
    }

    private static SimpleStrategy replication(String factor) {
        SimpleSnitch snitch = new SimpleSnitch();
        return new SimpleStrategy("ks", new TokenMetadata(snitch), snitch, Map.of("replication_factor", factor));
    }

    /** Three replicas, of which a server that allows it would make one transient. */
    private static final class SomeTransient extends SimpleStrategy {

        SomeTransient() {
            super("ks", new TokenMetadata(new SimpleSnitch()), new SimpleSnitch(), Map.of("replication_factor", "3"));
        }

        @Override
        public boolean hasTransientReplicas() {
            return true;
        }
    }
}
