package org.correctables.cassandra;

import io.netty.buffer.ByteBuf;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.SupportedMessage;

/** The option in SUPPORTED by which a client finds out, before it says anything else, that this server can be asked. */
final class SupportedOption extends DelegatingCodec<SupportedMessage> {

    static final String NAME = "CORRECTABLES_ICG";
    static final List<String> VERSIONS = List.of("1");

    SupportedOption(Message.Codec<SupportedMessage> plain) {
        super(plain, UnaryOperator.identity());
    }

    @Override
    public void encode(SupportedMessage message, ByteBuf body, ProtocolVersion version) {
        super.encode(extended(message, version), body, version);
    }

    @Override
    public int encodedSize(SupportedMessage message, ProtocolVersion version) {
        return super.encodedSize(extended(message, version), version);
    }

    private static SupportedMessage extended(SupportedMessage message, ProtocolVersion version) {
        if (!Exchanges.speaks(version)) {
            return message;
        }
        Map<String, List<String>> options = new LinkedHashMap<>(message.supported);
        options.put(NAME, VERSIONS);
        return new SupportedMessage(options);
    }
}
