package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.Counter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.ServerError;
import org.apache.cassandra.transport.messages.ErrorMessage;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ExchangeTest {

    private static final int CONFIRM = 1;
    private static final int FULL = 2;

    private final Counters counters = new Counters(name -> new Counter());
    private final FakeClient client = new FakeClient();

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void equalRowsAreConfirmedWithoutRows() {
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> TestResults.rows("a"));
        Message.Response answer = exchange.conclude(TestResults.rows("a"));
        assertEquals(List.of(1), client.codes());
        assertInstanceOf(ResultMessage.Void.class, answer);
        assertEquals(2, code(answer));
        assertCounted("Preliminaries", "Confirmed");
    }

    @Test
    void equalRowsComeInFullForThoseWhoSaySo() {
        Exchange exchange = exchange(FULL);
        offer(exchange, () -> TestResults.rows("a"));
        Message.Response plain = TestResults.rows("a");
        assertSame(plain, exchange.conclude(plain));
        assertEquals(4, code(plain));
        assertCounted("Preliminaries", "Confirmed");
    }

    @Test
    void otherRowsComeInFull() {
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> TestResults.rows("a"));
        Message.Response plain = TestResults.rows("b");
        assertSame(plain, exchange.conclude(plain));
        assertEquals(3, code(plain));
        assertCounted("Preliminaries", "Diverged");
    }

    @Test
    void anErrorAfterThePreliminaryStaysAnError() {
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> TestResults.rows("a"));
        Message.Response error = ErrorMessage.fromTransportException(new ServerError("no quorum"));
        assertSame(error, exchange.conclude(error));
        assertNull(error.getCustomPayload());
        assertCounted("Preliminaries", "Failed");
    }

    @Test
    void withoutPreliminaryTheAnswerIsPlain() {
        Exchange exchange = exchange(CONFIRM);
        Message.Response plain = TestResults.rows("a");
        assertSame(plain, exchange.conclude(plain));
        assertNull(plain.getCustomPayload());
        assertCounted();
    }

    @Test
    void theFirstReplicaOnly() {
        Exchange exchange = exchange(CONFIRM);
        assertTrue(exchange.isOpen());
        offer(exchange, () -> TestResults.rows("a"));
        assertFalse(exchange.isOpen());
        offer(exchange, () -> TestResults.rows("b"));
        assertEquals(List.of(1), client.codes());
        assertEquals(2, code(exchange.conclude(TestResults.rows("a"))));
    }

    @Test
    void aClientThatDoesNotReadGetsOneAnswer() {
        client.writable = false;
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> {
            throw new AssertionError("rows were made without a receiver");
        });
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        assertEquals(List.of(), client.codes());
        assertCounted("Unwritable");
    }

    @Test
    void neverAfterTheFinal() {
        Exchange exchange = exchange(CONFIRM);
        exchange.conclude(TestResults.rows("a"));
        offer(exchange, () -> TestResults.rows("a"));
        assertEquals(List.of(), client.codes());
        assertCounted("Late");
    }

    @Test
    void theFinalWaitsForNoPreliminaryThatIsBeingMade() throws InterruptedException {
        Exchange exchange = exchange(CONFIRM);
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread other = new Thread(() -> offer(exchange, () -> {
            making.countDown();
            awaitQuietly(goOn);
            return TestResults.rows("a");
        }));
        other.start();
        making.await();
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        goOn.countDown();
        other.join();
        assertEquals(List.of(), client.codes());
        assertCounted("Late");
    }

    @Test
    void theFinalWaitsForAPreliminaryThatIsBeingSent() throws InterruptedException {
        Exchange exchange = exchange(CONFIRM);
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        client.beforeSending = () -> {
            sending.countDown();
            awaitQuietly(goOn);
        };
        Thread other = new Thread(() -> offer(exchange, () -> TestResults.rows("a")));
        other.start();
        sending.await();
        List<Integer> sentBefore = new ArrayList<>();
        Thread finisher = new Thread(() -> {
            exchange.conclude(TestResults.rows("a"));
            sentBefore.addAll(client.codes());
        });
        finisher.start();
        while (finisher.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
        goOn.countDown();
        other.join();
        finisher.join();
        assertEquals(List.of(1), sentBefore);
    }

    @Test
    void whoOffersDoesNotMakeTheRowsUnlessItSaysSo() {
        Exchange exchange = exchange(CONFIRM);
        List<Runnable> waiting = new ArrayList<>();
        exchange.offer(() -> TestResults.rows("a"), waiting::add);
        assertFalse(exchange.isOpen());
        assertEquals(List.of(), client.codes());
        waiting.get(0).run();
        assertEquals(List.of(1), client.codes());
        assertEquals(2, code(exchange.conclude(TestResults.rows("a"))));
    }

    @Test
    void whatWaitsLongerThanTheFinalIsNotMade() {
        Exchange exchange = exchange(CONFIRM);
        List<Runnable> waiting = new ArrayList<>();
        exchange.offer(() -> {
            throw new AssertionError("rows were made without a receiver");
        }, waiting::add);
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        waiting.get(0).run();
        assertEquals(List.of(), client.codes());
        assertCounted("Late");
    }

    @Test
    void whereTooManyWaitThereIsNone() {
        Exchange exchange = exchange(CONFIRM);
        exchange.offer(() -> TestResults.rows("a"), full -> {
            throw new RejectedExecutionException();
        });
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        assertCounted("Busy");
    }

    @Test
    void whatFailsAfterTheFinalIsLateNotBroken() {
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> {
            exchange.conclude(TestResults.rows("a"));
            throw new IllegalStateException("the table is gone");
        });
        assertCounted("Late");
    }

    @Test
    void aFailureOfThePreliminaryIsNoneOfTheRead() {
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> {
            throw new IllegalStateException("broken");
        });
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        assertCounted("Broken");
    }

    @Test
    void aFrameThatCannotBeSentIsNoPreliminary() {
        client.failure = new IllegalStateException("too long");
        Exchange exchange = exchange(CONFIRM);
        offer(exchange, () -> TestResults.rows("a"));
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        assertCounted("Broken");
    }

    @Test
    void whatIsNotCoveredIsCountedOnce() {
        Exchange exchange = exchange(CONFIRM);
        exchange.decline();
        exchange.decline();
        offer(exchange, () -> TestResults.rows("a"));
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        assertCounted("Uncovered");
    }

    @Test
    void rowsThatAreTooLargeAreNotSent() {
        Exchange exchange = exchange(CONFIRM);
        Supplier<ResultMessage.Rows> none = () -> null;
        offer(exchange, none);
        assertNull(exchange.conclude(TestResults.rows("a")).getCustomPayload());
        assertCounted("Uncovered");
    }

    /** By the thread that asks. */
    private static void offer(Exchange exchange, Supplier<ResultMessage.Rows> read) {
        exchange.offer(read, Runnable::run);
    }

    private Exchange exchange(int mode) {
        return new Exchange(Asking.in(Map.of("icg", ByteBuffer.wrap(new byte[] {(byte) mode}))), client, counters);
    }

    private void assertCounted(String... names) {
        Map<String, Long> counted = counters.byName().entrySet().stream()
            .filter(entry -> entry.getValue().getCount() > 0)
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().getCount()));
        assertEquals(List.of(names).stream().collect(Collectors.toMap(name -> name, name -> 1L)), counted);
    }

    private static int code(Message message) {
        ByteBuffer value = message.getCustomPayload().get("icg");
        return value.get(value.position());
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(1, TimeUnit.MINUTES));
        } catch (InterruptedException error) {
            throw new AssertionError(error);
        }
    }

    private static final class FakeClient implements Exchange.Client {

        private final List<ResultMessage.Rows> sent = new ArrayList<>();
        private boolean writable = true;
        private RuntimeException failure;
        private Runnable beforeSending = () -> { };

        @Override
        public boolean isWritable() {
            return writable;
        }

        @Override
        public synchronized void send(ResultMessage.Rows rows, Asking asking) {
            beforeSending.run();
            if (failure != null) {
                throw failure;
            }
            sent.add(rows);
        }

        synchronized List<Integer> codes() {
            return sent.stream().map(ExchangeTest::code).collect(Collectors.toList());
        }
    }
}
