package org.correctables.cassandra;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.ReadResponse;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;

/** A read that has been made already: executing it gives what one replica answered, and touches no storage. */
final class ReplayedRead extends SinglePartitionReadCommand {

    private final ReadResponse data;

    ReplayedRead(SinglePartitionReadCommand read, ReadResponse data) {
        super(
            false,
            0,
            false,
            read.metadata(),
            read.nowInSec(),
            read.columnFilter(),
            read.rowFilter(),
            read.limits(),
            read.partitionKey(),
            read.clusteringIndexFilter(),
            read.indexQueryPlan(),
            false,
            read.dataRange());
        this.data = data;
    }

    @Override
    public ReadExecutionController executionController() {
        return ReadExecutionController.empty();
    }

    @Override
    public UnfilteredPartitionIterator executeLocally(ReadExecutionController controller) {
        return data.makeIterator(this);
    }

    @Override
    public SinglePartitionReadCommand forPaging(Clustering<?> lastReturned, DataLimits limits) {
        return new ReplayedRead(super.forPaging(lastReturned, limits), data);
    }
}
