package org.correctables.cassandra;

import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.messages.QueryMessage;

/** QUERY, with a preliminary answer for those who ask. */
final class CorrectableQuery extends QueryMessage {

    private final Counters counters;

    private CorrectableQuery(QueryMessage plain, Counters counters) {
        super(plain.query, plain.options);
        this.counters = counters;
    }

    @Override
    protected Message.Response execute(QueryState state, Dispatcher.RequestTime requestTime, boolean traceRequest) {
        return Exchanges.answer(
            this, this::skipMetadata, counters, () -> super.execute(state, requestTime, traceRequest));
    }

    private void skipMetadata(ResultSet.ResultMetadata metadata) {
        if (options.skipMetadata()) {
            metadata.setSkipMetadata();
        }
    }

    /** Reads the messages of clients, in place of the server's codec. */
    static Message.Codec<QueryMessage> codec(Message.Codec<QueryMessage> plain, Counters counters) {
        return new DelegatingCodec<>(plain, message -> new CorrectableQuery(message, counters));
    }
}
