package org.correctables.cassandra;

import io.netty.buffer.ByteBuf;
import java.util.function.UnaryOperator;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.ProtocolVersion;

/** A codec of the server, to change a part of it: what it makes of the messages that it reads, or what it writes. */
class DelegatingCodec<M extends Message> implements Message.Codec<M> {

    private final Message.Codec<M> plain;
    private final UnaryOperator<M> ours;

    /** @param ours makes a message of ours of one that was read */
    DelegatingCodec(Message.Codec<M> plain, UnaryOperator<M> ours) {
        this.plain = plain;
        this.ours = ours;
    }

    @Override
    public M decode(ByteBuf body, ProtocolVersion version) {
        return ours.apply(plain.decode(body, version));
    }

    @Override
    public void encode(M message, ByteBuf body, ProtocolVersion version) {
        plain.encode(message, body, version);
    }

    @Override
    public int encodedSize(M message, ProtocolVersion version) {
        return plain.encodedSize(message, version);
    }
}
