package org.apache.zookeeper.server.quorum;

import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a member of an ensemble with preliminary replies; takes the arguments of {@link QuorumPeerMain}. */
public final class CzkMain {

    private static final Logger LOG = LoggerFactory.getLogger(CzkMain.class);

    private CzkMain() {
    }

    public static void main(String[] args) {
        try {
            new Starter().initializeAndRun(args);
            ServiceUtils.requestSystemExit(ExitCode.EXECUTION_FINISHED.getValue());
        } catch (Exception error) {
            LOG.error("the server could not be started, or failed", error);
            ServiceUtils.requestSystemExit(ExitCode.UNEXPECTED_ERROR.getValue());
        }
    }

    private static final class Starter extends QuorumPeerMain {

        @Override
        protected QuorumPeer getQuorumPeer() throws SaslException {
            return new CzkPeer();
        }
    }
}
