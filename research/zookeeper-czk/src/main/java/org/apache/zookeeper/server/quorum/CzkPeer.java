package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.util.function.Supplier;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.server.DataTree.ProcessTxnResult;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/** A member of an ensemble that gives preliminary replies in whatever part it plays: follower, leader or observer. */
final class CzkPeer extends QuorumPeer {

    CzkPeer() throws SaslException {
        super();
    }

    @Override
    protected Follower makeFollower(FileTxnSnapLog log) throws IOException {
        InFlightCreates inFlight = inFlight();
        return new Follower(this, new FollowerZooKeeperServer(log, this, getZkDb()) {
            @Override
            protected void setupRequestProcessors() {
                super.setupRequestProcessors();
                firstProcessor = new PreliminaryReplies(this, inFlight, firstProcessor);
            }

            @Override
            public ProcessTxnResult processTxn(Request request) {
                return applying(inFlight, request, () -> super.processTxn(request));
            }
        });
    }

    @Override
    protected Leader makeLeader(FileTxnSnapLog log) throws IOException, X509Exception {
        InFlightCreates inFlight = inFlight();
        return new Leader(this, new LeaderZooKeeperServer(log, this, getZkDb()) {
            @Override
            protected void setupRequestProcessors() {
                super.setupRequestProcessors();
                firstProcessor = new PreliminaryReplies(this, inFlight, firstProcessor);
            }

            @Override
            public ProcessTxnResult processTxn(Request request) {
                return applying(inFlight, request, () -> super.processTxn(request));
            }
        });
    }

    @Override
    protected Observer makeObserver(FileTxnSnapLog log) throws IOException {
        InFlightCreates inFlight = inFlight();
        return new Observer(this, new ObserverZooKeeperServer(log, this, getZkDb()) {
            @Override
            protected void setupRequestProcessors() {
                super.setupRequestProcessors();
                firstProcessor = new PreliminaryReplies(this, inFlight, firstProcessor);
            }

            @Override
            public ProcessTxnResult processTxn(Request request) {
                return applying(inFlight, request, () -> super.processTxn(request));
            }
        });
    }

    /** A new part begins with nothing under way. A create outlives the longest session by no means. */
    private InFlightCreates inFlight() {
        return new InFlightCreates(Math.max(getMaxSessionTimeout(), getTickTime() * 20));
    }

    /** A reader that counts what is in flight sees a create either there or applied, never both nor neither. */
    private static ProcessTxnResult applying(
        InFlightCreates inFlight, Request request, Supplier<ProcessTxnResult> process) {
        synchronized (inFlight) {
            ProcessTxnResult result = process.get();
            if (request.type == ZooDefs.OpCode.closeSession) {
                inFlight.endSession(request.sessionId);
            } else {
                inFlight.end(request.sessionId, request.cxid);
            }
            return result;
        }
    }
}
