package org.apache.cassandra.db;

import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.transport.Dispatcher;

/**
 * A read that tells what this node's own replica answers, and under which message it asks others for data. To Cassandra it is
 * the read that it was made from: it coordinates, repairs, retries and counts it as ever.
 */
public final class ObservedRead extends SinglePartitionReadCommand {

    private final Observer observer;

    /** Called by any thread, for each answer with data. */
    public interface Observer {

        /** What the local replica answers: in the middle of the read, which holds back writes to disk. */
        void onData(ReadResponse data);

        /** All replicas have been asked. The caller is about to wait for them. */
        void onWait();

        /** Other replicas will answer with data, under this message's id. */
        void onDataRequested(long messageId);
    }

    public ObservedRead(SinglePartitionReadCommand read, Observer observer) {
        super(
            read.isDigestQuery(),
            read.digestVersion(),
            read.acceptsTransient(),
            read.metadata(),
            read.nowInSec(),
            read.columnFilter(),
            read.rowFilter(),
            read.limits(),
            read.partitionKey(),
            read.clusteringIndexFilter(),
            read.indexQueryPlan(),
            read.isTrackingWarnings(),
            read.dataRange());
        this.observer = observer;
    }

    @Override
    public ReadResponse createResponse(UnfilteredPartitionIterator partitions, RepairedDataInfo repaired) {
        ReadResponse response = DecodedResponse.of(super.createResponse(partitions, repaired));
        observer.onData(response);
        return response;
    }

    /** Cassandra asks for it between the last request to a replica and the wait for the answers. */
    @Override
    public long getTimeout(TimeUnit unit) {
        observer.onWait();
        return super.getTimeout(unit);
    }

    @Override
    public Message<ReadCommand> createMessage(boolean trackRepairedData, Dispatcher.RequestTime requestTime) {
        Message<ReadCommand> message = super.createMessage(trackRepairedData, requestTime);
        observer.onDataRequested(message.id());
        return message;
    }

    /** A pager reads its pages with copies; each is observed as the whole. */
    @Override
    public SinglePartitionReadCommand forPaging(Clustering<?> lastReturned, DataLimits limits) {
        return new ObservedRead(super.forPaging(lastReturned, limits), observer);
    }
}
