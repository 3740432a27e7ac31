package org.apache.cassandra.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class FlushQueueTest {

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void framesLeaveInTheOrderInWhichTheyCameTheServersOwnIncluded() {
        EmbeddedChannel channel = new EmbeddedChannel();
        FlushQueue.add(channel, frame(1));
        answer(channel, frame(2));
        FlushQueue.add(channel, frame(3));
        channel.runPendingTasks();
        List<Integer> streams = new ArrayList<>();
        for (Envelope sent = channel.readOutbound(); sent != null; sent = channel.readOutbound()) {
            streams.add(sent.header.streamId);
        }
        assertEquals(List.of(1, 2, 3), streams);
    }

    /** As the server does it. */
    private static void answer(EmbeddedChannel channel, Envelope frame) {
        try {
            Method flush = Dispatcher.class.getDeclaredMethod("flush", Flusher.FlushItem.class);
            flush.setAccessible(true);
            flush.invoke(new Dispatcher(false), new Flusher.FlushItem.Unframed(channel, frame, null, item -> { }));
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    private static Envelope frame(int stream) {
        return Envelope.create(
            Message.Type.RESULT, stream, ProtocolVersion.V4, EnumSet.noneOf(Envelope.Header.Flag.class), Unpooled.EMPTY_BUFFER);
    }
}
