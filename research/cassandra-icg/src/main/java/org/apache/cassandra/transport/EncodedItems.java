package org.apache.cassandra.transport;

import io.netty.channel.Channel;

/** Frames, as Cassandra queues them since 5.0.9. */
final class EncodedItems implements FlushItems {

    @Override
    public Flusher.FlushItem<?> of(Channel channel, Message.Response answer, ProtocolVersion version, int stream) {
        return of(channel, answer.encode(version, stream));
    }

    Flusher.FlushItem<?> of(Channel channel, Envelope frame) {
        // Held until it has been handed to the channel: the buffer of a frame that is gone may be another one's.
        frame.retain();
        // What else an item releases belongs to its request, which is not answered yet.
        return new Flusher.FlushItem.Unframed(channel, frame, null, item -> tidy(channel, frame));
    }

    /**
     * Called by the channel's own thread after the write. What handlers are given they release, written or not; a channel
     * that has been closed has no handlers any more, and drops the frame as it is.
     */
    private static void tidy(Channel channel, Envelope frame) {
        if (!channel.isRegistered() && frame.body.refCnt() > 1) {
            frame.release();
        }
        frame.release();
    }
}
