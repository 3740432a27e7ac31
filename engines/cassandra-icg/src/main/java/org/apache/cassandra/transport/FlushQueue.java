package org.apache.cassandra.transport;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentMap;
import org.apache.cassandra.config.DatabaseDescriptor;

/**
 * The queue through which the server's own answers leave a channel. A frame that is put there before another is written
 * before it: no thread has to wait so that the preliminary stays in front of the final.
 */
public final class FlushQueue {

    private static final ConcurrentMap<EventLoop, Flusher> FLUSHERS = flushersOfTheServer();

    private FlushQueue() {
    }

    /** Queues a frame for a channel whose protocol is version 4 or older. */
    public static void add(Channel channel, Envelope frame) {
        Flusher flusher = flusherOf(channel.eventLoop());
        // What an item releases belongs to its request, which is not answered yet. The frame is released by the channel.
        flusher.enqueue(new Flusher.FlushItem.Unframed(channel, frame, null, item -> { }));
        flusher.start();
    }

    /** The one of the server, which it makes for a loop's first answer in the same way. */
    static Flusher flusherOf(EventLoop eventLoop) {
        return FLUSHERS.computeIfAbsent(
            eventLoop,
            loop -> DatabaseDescriptor.useNativeTransportLegacyFlusher() ? Flusher.legacy(loop) : Flusher.immediate(loop));
    }

    @SuppressWarnings("unchecked")
    private static ConcurrentMap<EventLoop, Flusher> flushersOfTheServer() {
        try {
            Field field = Dispatcher.class.getDeclaredField("flusherLookup");
            field.setAccessible(true);
            return (ConcurrentMap<EventLoop, Flusher>) field.get(null);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }
}
