package org.correctables.cassandra;

import io.netty.buffer.ByteBuf;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.ProtocolVersion;

/** A codec of the server, to change a part of it. */
abstract class DelegatingCodec<M extends Message> implements Message.Codec<M> {

    private final Message.Codec<M> plain;

    DelegatingCodec(Message.Codec<M> plain) {
        this.plain = plain;
    }

    @Override
    public M decode(ByteBuf body, ProtocolVersion version) {
        return plain.decode(body, version);
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
