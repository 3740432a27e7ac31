package org.apache.cassandra.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
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

    private static final int BODY_BYTES = 100;

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void framesLeaveInTheOrderInWhichTheyCameTheServersOwnIncluded() {
        EmbeddedChannel channel = new EmbeddedChannel();
        add(channel, frame(1, Unpooled.EMPTY_BUFFER));
        answer(channel, frame(2, Unpooled.EMPTY_BUFFER));
        add(channel, frame(3, Unpooled.EMPTY_BUFFER));
        channel.runPendingTasks();
        List<Integer> streams = new ArrayList<>();
        for (Envelope sent = channel.readOutbound(); sent != null; sent = channel.readOutbound()) {
            streams.add(sent.header.streamId);
        }
        assertEquals(List.of(1, 2, 3), streams);
    }

    @Test
    void aChannelThatIsOpenOwnsTheBufferOfAFrame() {
        EmbeddedChannel channel = new EmbeddedChannel(Envelope.Encoder.instance);
        ByteBuf body = body();
        add(channel, frame(1, body));
        channel.runPendingTasks();
        assertEquals(1, body.refCnt());
        channel.releaseOutbound();
        assertEquals(0, body.refCnt());
    }

    @Test
    void theFrameForAChannelThatHasClosedIsReleased() {
        EmbeddedChannel channel = new EmbeddedChannel(Envelope.Encoder.instance);
        channel.close();
        channel.runPendingTasks();
        assertFalse(channel.isRegistered());
        ByteBuf body = body();
        add(channel, frame(1, body));
        channel.runPendingTasks();
        assertEquals(0, body.refCnt());
    }

    @Test
    void theFrameForAChannelThatClosesMeanwhileIsReleasedOnce() {
        EmbeddedChannel channel = new EmbeddedChannel(Envelope.Encoder.instance);
        ByteBuf body = body();
        channel.eventLoop().execute(channel::close);
        add(channel, frame(1, body));
        channel.runPendingTasks();
        channel.releaseOutbound();
        channel.checkException();
        assertEquals(0, body.refCnt());
    }

    private static void add(EmbeddedChannel channel, Envelope frame) {
        Flusher flusher = FlushQueue.flusherOf(channel.eventLoop());
        flusher.enqueue(new EncodedItems().of(channel, frame));
        flusher.start();
    }

    private static ByteBuf body() {
        return PooledByteBufAllocator.DEFAULT.buffer(BODY_BYTES).writeZero(BODY_BYTES);
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

    private static Envelope frame(int stream, ByteBuf body) {
        return Envelope.create(
            Message.Type.RESULT, stream, ProtocolVersion.V4, EnumSet.noneOf(Envelope.Header.Flag.class), body);
    }
}
