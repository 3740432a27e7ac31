package org.apache.cassandra.transport;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentMap;
import org.apache.cassandra.config.DatabaseDescriptor;

/**
 * The queue through which the server's own answers leave a channel. An answer that is put there before another is written
 * before it: no thread has to wait so that the preliminary stays in front of the final.
 */
public final class FlushQueue {

    private static final ConcurrentMap<EventLoop, Flusher> FLUSHERS;
    private static final FlushItems ITEMS;

    static {
        try {
            FLUSHERS = flushersOfTheServer();
            ITEMS = FlushItems.ofThisServer();
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private FlushQueue() {
    }

    /** Queues an answer for a channel whose protocol is version 4 or older. It is not to be changed any more. */
    public static void add(Channel channel, Message.Response answer, ProtocolVersion version, int stream) {
        Flusher flusher = flusherOf(channel.eventLoop());
        flusher.enqueue(ITEMS.of(channel, answer, version, stream));
        flusher.start();
    }

    /** The one of the server, which it makes for a loop's first answer in the same way. */
    static Flusher flusherOf(EventLoop eventLoop) {
        return FLUSHERS.computeIfAbsent(
            eventLoop,
            loop -> DatabaseDescriptor.useNativeTransportLegacyFlusher() ? Flusher.legacy(loop) : Flusher.immediate(loop));
    }

    @SuppressWarnings("unchecked")
    private static ConcurrentMap<EventLoop, Flusher> flushersOfTheServer() throws ReflectiveOperationException {
        Field field = Dispatcher.class.getDeclaredField("flusherLookup");
        field.setAccessible(true);
        return (ConcurrentMap<EventLoop, Flusher>) field.get(null);
    }
}
