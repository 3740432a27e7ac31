package org.correctables.cassandra;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.cassandra.db.ReadResponse;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.service.reads.thresholds.WarningContext;

/**
 * Shows other replicas' data to the reads that wait for it, before Cassandra sees it: a filter of incoming messages that lets
 * all pass. Used where the coordinator is no replica, and where another replica is asked because one is slow.
 */
final class RemoteData implements Predicate<Message<?>> {

    private final ConcurrentMap<Long, Consumer<ReadResponse>> waiting = new ConcurrentHashMap<>();

    /**
     * Expects the answers to a message. The caller also has to forget them.
     *
     * @param onData is called by a thread that the whole node waits for: it must only hand over
     */
    void expect(long messageId, Consumer<ReadResponse> onData) {
        waiting.put(messageId, onData);
    }

    void forget(long messageId) {
        waiting.remove(messageId);
    }

    @Override
    public boolean test(Message<?> message) {
        if (message.verb() != Verb.READ_RSP || waiting.isEmpty()) {
            return true;
        }
        Consumer<ReadResponse> read = waiting.get(message.id());
        if (read != null && message.payload instanceof ReadResponse && isWhole(message)) {
            read.accept((ReadResponse) message.payload);
        }
        return true;
    }

    /** A digest has no rows; with warnings it may be an empty answer in place of one that grew too large. */
    private static boolean isWhole(Message<?> message) {
        return !((ReadResponse) message.payload).isDigestResponse()
            && !WarningContext.isSupported(message.header.params().keySet());
    }
}
