package org.correctables.cassandra;

import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.transport.FlushQueue;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;

/** From a request to its exchange, and on to the statement that it executes. */
final class Exchanges {

    private Exchanges() {
    }

    /** Newer versions put several answers into one checksummed frame; their clients are answered once. */
    static boolean speaks(ProtocolVersion version) {
        return version == ProtocolVersion.V4;
    }

    /**
     * Executes a request, which is answered twice where it asks for that and can be.
     *
     * @param skipMetadata leaves out of an answer what the client knows
     */
    static Message.Response answer(
        Message.Request request,
        Consumer<ResultSet.ResultMetadata> skipMetadata,
        Counters counters,
        Supplier<Message.Response> execute) {
        Exchange exchange = begin(request, skipMetadata, counters);
        Message.Response response = execute.get();
        return exchange == null ? response : exchange.conclude(response);
    }

    /**
     * Null unless the request asks for a preliminary answer and can have one. The exchange goes along in the custom payload,
     * which the server hands to its query handler.
     */
    private static Exchange begin(
        Message.Request request, Consumer<ResultSet.ResultMetadata> skipMetadata, Counters counters) {
        Asking asking = Asking.in(request.getCustomPayload());
        if (asking == null) {
            return null;
        }
        if (!speaks(request.connection().getVersion())) {
            counters.uncovered.inc();
            return null;
        }
        Exchange exchange = new Exchange(asking, new RequestClient(request, skipMetadata), counters);
        request.setCustomPayload(new Carrying(request.getCustomPayload(), exchange));
        return exchange;
    }

    /** The exchange of a request, by its payload; null if it did not ask. */
    static Exchange of(Map<String, ByteBuffer> payload) {
        return payload instanceof Carrying ? ((Carrying) payload).exchange : null;
    }

    private static final class Carrying extends HashMap<String, ByteBuffer> {

        private static final long serialVersionUID = 1;

        private final transient Exchange exchange;

        Carrying(Map<String, ByteBuffer> payload, Exchange exchange) {
            super(payload);
            this.exchange = exchange;
        }
    }

    private static final class RequestClient implements Exchange.Client {

        private final Message.Request request;
        private final Consumer<ResultSet.ResultMetadata> skipMetadata;
        private final Channel channel;

        RequestClient(Message.Request request, Consumer<ResultSet.ResultMetadata> skipMetadata) {
            this.request = request;
            this.skipMetadata = skipMetadata;
            this.channel = request.connection().channel();
        }

        @Override
        public boolean isWritable() {
            return channel.isWritable();
        }

        @Override
        public void send(ResultMessage.Rows rows, Asking asking) {
            skipMetadata.accept(rows.result.metadata);
            int stream = asking.preliminaryStream(request.getSource().header.streamId);
            FlushQueue.add(channel, rows, request.connection().getVersion(), stream);
        }
    }
}
