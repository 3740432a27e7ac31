package org.correctables.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PreliminaryStageTest {

    @BeforeAll
    static void configure() {
        DatabaseDescriptor.clientInitialization();
    }

    @Test
    void evaluationsHaveThreadsOfTheirOwn() {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        PreliminaryStage.INSTANCE.execute(() -> thread.complete(Thread.currentThread()));
        assertTrue(thread.join().getName().startsWith("correctables-preliminary-"));
        assertTrue(thread.join().isDaemon());
    }

    @Test
    void whoHandsOverIsRefusedWhereTooManyWaitAndNeverWaits() {
        PreliminaryStage stage = new PreliminaryStage(1, 2);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(3);
        for (int n = 0; n < 3; n += 1) {
            stage.execute(() -> {
                awaitQuietly(goOn);
                done.countDown();
            });
        }
        assertThrows(RejectedExecutionException.class, () -> stage.execute(done::countDown));
        goOn.countDown();
        awaitQuietly(done);
        assertEquals(0, done.getCount());
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            throw new AssertionError(error);
        }
    }
}
