package org.apache.cassandra.transport;

import io.netty.channel.Channel;

/** How the server queues an answer for a channel whose protocol is version 4 or older. */
interface FlushItems {

    Flusher.FlushItem<?> of(Channel channel, Message.Response answer, ProtocolVersion version, int stream);

    /** Up to 5.0.8 an answer knows its stream and is encoded when it leaves; since 5.0.9 it is encoded before. */
    static FlushItems ofThisServer() throws ReflectiveOperationException {
        try {
            return new UnencodedItems(Message.class.getMethod("setStreamId", int.class));
        } catch (NoSuchMethodException since509) {
            return new EncodedItems();
        }
    }
}
