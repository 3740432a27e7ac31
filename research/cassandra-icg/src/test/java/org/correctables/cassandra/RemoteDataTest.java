package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadResponse;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.NoPayload;
import org.apache.cassandra.net.ParamType;
import org.apache.cassandra.net.Verb;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RemoteDataTest {

    private final RemoteData remoteData = new RemoteData();
    private final List<ReadResponse> seen = new ArrayList<>();

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void dataIsShownToTheReadThatWaitsForIt() {
        Message<ReadResponse> message = answer(new Response(false));
        remoteData.expect(message.id(), seen::add);
        assertTrue(remoteData.test(message));
        assertEquals(List.of(message.payload), seen);
    }

    @Test
    void whatNobodyWaitsForPasses() {
        Message<ReadResponse> message = answer(new Response(false));
        assertTrue(remoteData.test(message));
        remoteData.expect(message.id() + 1, seen::add);
        assertTrue(remoteData.test(message));
        remoteData.expect(message.id(), seen::add);
        remoteData.forget(message.id());
        assertTrue(remoteData.test(message));
        assertEquals(List.of(), seen);
    }

    @Test
    void digestsAndAnswersWithWarningsAreNoData() {
        Message<ReadResponse> digest = answer(new Response(true));
        remoteData.expect(digest.id(), seen::add);
        assertTrue(remoteData.test(digest));
        Message<ReadResponse> tooLarge = answer(new Response(false)).withParam(ParamType.TOMBSTONE_FAIL, 7);
        remoteData.expect(tooLarge.id(), seen::add);
        assertTrue(remoteData.test(tooLarge));
        assertEquals(List.of(), seen);
    }

    @Test
    void otherVerbsPass() {
        Message<NoPayload> message = Message.internalResponse(Verb.MUTATION_RSP, NoPayload.noPayload);
        remoteData.expect(message.id(), seen::add);
        assertTrue(remoteData.test(message));
        assertEquals(List.of(), seen);
    }

    private static Message<ReadResponse> answer(ReadResponse response) {
        return Message.internalResponse(Verb.READ_RSP, response);
    }

    private static final class Response extends ReadResponse {

        private final boolean digest;

        Response(boolean digest) {
            this.digest = digest;
        }

        @Override
        public boolean isDigestResponse() {
            return digest;
        }

        @Override
        public UnfilteredPartitionIterator makeIterator(ReadCommand command) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ByteBuffer digest(ReadCommand command) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ByteBuffer repairedDataDigest() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isRepairedDigestConclusive() {
            return true;
        }

        @Override
        public boolean mayIncludeRepairedDigest() {
            return false;
        }
    }
}
