package org.correctables.cassandra;

import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.messages.ExecuteMessage;

/** EXECUTE, with a preliminary answer for those who ask. */
final class CorrectableExecute extends ExecuteMessage {

    private final Counters counters;

    private CorrectableExecute(ExecuteMessage plain, Counters counters) {
        super(plain.statementId, plain.resultMetadataId, plain.options);
        this.counters = counters;
    }

    @Override
    protected Message.Response execute(QueryState state, Dispatcher.RequestTime requestTime, boolean traceRequest) {
        return Exchanges.answer(
            this, this::skipMetadata, counters, () -> super.execute(state, requestTime, traceRequest));
    }

    /** As for the final: known metadata is left out for those who say so. */
    private void skipMetadata(ResultSet.ResultMetadata metadata) {
        if (!options.skipMetadata()) {
            return;
        }
        QueryHandler.Prepared prepared = ClientState.getCQLQueryHandler().getPrepared(statementId);
        if (prepared != null && prepared.resultMetadataId.equals(metadata.getResultMetadataId())) {
            metadata.setSkipMetadata();
        }
    }

    /** Reads the messages of clients, in place of the server's codec. */
    static Message.Codec<ExecuteMessage> codec(Message.Codec<ExecuteMessage> plain, Counters counters) {
        return new DelegatingCodec<>(plain, message -> new CorrectableExecute(message, counters));
    }
}
