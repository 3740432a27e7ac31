package org.correctables.cassandra;

import java.util.EnumSet;
import java.util.List;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.locator.AbstractReplicationStrategy;

/** Which reads have a preliminary answer. All others get a normal one. */
final class Coverage {

    private static final EnumSet<ConsistencyLevel> QUORUMS = EnumSet.of(
        ConsistencyLevel.TWO,
        ConsistencyLevel.THREE,
        ConsistencyLevel.QUORUM,
        ConsistencyLevel.LOCAL_QUORUM,
        ConsistencyLevel.ALL);

    private Coverage() {
    }

    /** Whether one replica's answer says something before the final: one partition, first page, several replicas to ask. */
    static boolean covers(boolean isAggregate, QueryOptions options, ReadQuery query) {
        return !isAggregate
            && isOnePartition(query)
            && options.getPagingState() == null
            && isQuorum(options.getConsistency(), replication(query));
    }

    /** Whether the rows are small enough for the server's limits on results, if it has any. */
    static boolean covers(ResultSet rows, QueryOptions options) {
        return !options.isReadThresholdsEnabled()
            || isWithin(
                Results.size(rows),
                options.getCoordinatorReadSizeWarnThresholdBytes(),
                options.getCoordinatorReadSizeAbortThresholdBytes());
    }

    /** Virtual tables, ranges and several partitions are other kinds of query; the best of an index is read at ONE. */
    static boolean isOnePartition(ReadQuery query) {
        if (query.getClass() != SinglePartitionReadCommand.Group.class) {
            return false;
        }
        List<SinglePartitionReadCommand> reads = ((SinglePartitionReadCommand.Group) query).queries;
        return reads.size() == 1 && !reads.get(0).isTopK();
    }

    /** Serial reads go through Paxos; a transient replica has a part of the data, which is no answer by itself. */
    static boolean isQuorum(ConsistencyLevel level, AbstractReplicationStrategy replication) {
        return QUORUMS.contains(level) && level.blockFor(replication) > 1 && !replication.hasTransientReplicas();
    }

    /** A threshold below zero is none. */
    static boolean isWithin(long size, long warnAbove, long abortAbove) {
        return (warnAbove < 0 || size <= warnAbove) && (abortAbove < 0 || size <= abortAbove);
    }

    private static AbstractReplicationStrategy replication(ReadQuery query) {
        return Keyspace.open(query.metadata().keyspace).getReplicationStrategy();
    }
}
