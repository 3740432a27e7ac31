package org.apache.cassandra.transport;

import io.netty.channel.Channel;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.function.Consumer;

/** Answers, as Cassandra queues them up to 5.0.8: the channel encodes them, so that one that is closed has no buffers. */
final class UnencodedItems implements FlushItems {

    private static final Consumer<?> NOTHING_TO_TIDY = item -> { };

    private final Method setStreamId;
    private final Constructor<?> unframed;

    /** By reflection: this is built with a server that does not have them. */
    UnencodedItems(Method setStreamId) throws ReflectiveOperationException {
        this.setStreamId = setStreamId;
        unframed = Flusher.FlushItem.Unframed.class.getDeclaredConstructor(
            Channel.class, Message.Response.class, Envelope.class, Consumer.class);
    }

    @Override
    public Flusher.FlushItem<?> of(Channel channel, Message.Response answer, ProtocolVersion version, int stream) {
        try {
            setStreamId.invoke(answer, stream);
            return (Flusher.FlushItem<?>) unframed.newInstance(channel, answer, null, NOTHING_TO_TIDY);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
