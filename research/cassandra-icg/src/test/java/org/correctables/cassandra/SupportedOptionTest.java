package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Map;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.SupportedMessage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SupportedOptionTest {

    private static final Map<String, List<String>> PLAIN = Map.of("COMPRESSION", List.of("lz4"));

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void announcesTheOptionToClientsOfVersion4() {
        Map<String, List<String>> options =
            Map.of("COMPRESSION", List.of("lz4"), "CORRECTABLES_ICG", List.of("1"));
        assertEquals(options, optionsFor(ProtocolVersion.V4));
    }

    @Test
    void othersSeeTheServersOwn() {
        assertEquals(PLAIN, optionsFor(ProtocolVersion.V3));
        assertEquals(PLAIN, optionsFor(ProtocolVersion.V5));
    }

    private static Map<String, List<String>> optionsFor(ProtocolVersion version) {
        SupportedOption codec = new SupportedOption(SupportedMessage.codec);
        SupportedMessage message = new SupportedMessage(PLAIN);
        ByteBuf body = Unpooled.buffer();
        codec.encode(message, body, version);
        assertEquals(body.readableBytes(), codec.encodedSize(message, version));
        return codec.decode(body, version).supported;
    }
}
