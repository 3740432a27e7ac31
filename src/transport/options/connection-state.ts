/** The life of a connection as a pure state machine; docs/reference/wire-protocol.md has the table. */

/**
 * - `connecting`: a socket is being opened.
 * - `handshaking`: the client sent `hello` and waits for `welcome`.
 * - `open`: operations flow.
 * - `probing`: the server was silent for a while, and the client sent a `ping`.
 * - `waiting`: there is no socket to submit on; the next attempt comes after a delay.
 * - `closing`: the client is done and waits for the socket to close.
 * - `closed`: for ever.
 */
export type ConnectionState = 'connecting' | 'handshaking' | 'open' | 'probing' | 'waiting' | 'closing' | 'closed';

/**
 * - `opened`: the socket is open.
 * - `welcomed`: the server accepted the client.
 * - `principal-changed`: the server or the application uses another principal than before.
 * - `received`: any row arrived.
 * - `timeout`: the time allowed for the present state is over (in `open`: nothing was heard in it).
 * - `goaway`: the server is about to close, and takes no more submissions.
 * - `lost`: the socket closed or failed, and another attempt may help.
 * - `rejected`: the server refused this client for good, or the policy gives up.
 * - `wake`: there is reason to believe that the network is back.
 * - `close`: the application is done.
 */
export type ConnectionEvent =
  | 'opened'
  | 'welcomed'
  | 'principal-changed'
  | 'received'
  | 'timeout'
  | 'goaway'
  | 'lost'
  | 'rejected'
  | 'wake'
  | 'close';

/**
 * - `connect`: open a socket.
 * - `handshake`: send `hello`.
 * - `resume`: submit whatever has no final and waits for no answer, under the same ids.
 * - `ping`: send `ping`.
 * - `drain`: keep the socket beside the next one, for the answers that are still to come on it.
 * - `terminate`: forget the socket, closing it without waiting for the peer.
 * - `close-socket`: acknowledge what is done and close the socket in order.
 * - `fail`: fail whatever has no final.
 * - `abandon-operations`: fail whatever has no final, since it is another's, and take a new client id.
 * - `end`: notify the callers that wait for the end.
 */
export type ConnectionAction =
  | 'connect'
  | 'handshake'
  | 'resume'
  | 'ping'
  | 'drain'
  | 'terminate'
  | 'close-socket'
  | 'fail'
  | 'abandon-operations'
  | 'end';

export interface Transition {
  readonly state: ConnectionState;
  readonly actions: readonly ConnectionAction[];
}

type TransitionRow = Partial<Record<ConnectionEvent, Transition>>;

const createTransition = (state: ConnectionState, ...actions: ConnectionAction[]): Transition => ({ state, actions });

const RETRY = createTransition('waiting', 'terminate');
const RETIRE_AND_RETRY = createTransition('waiting', 'drain');
// Retired first, so that what was said on it is sent.
const RETIRE_AND_ABANDON = createTransition('waiting', 'drain', 'abandon-operations');
const REJECTED = createTransition('closed', 'terminate', 'fail', 'end');
const CLOSE_WITHOUT_SOCKET = createTransition('closed', 'terminate', 'fail', 'end');
const CLOSE_SOCKET = createTransition('closing', 'fail', 'close-socket');

const TRANSITIONS: Readonly<Record<ConnectionState, TransitionRow>> = {
  connecting: {
    opened: createTransition('handshaking', 'handshake'),
    timeout: RETRY,
    lost: RETRY,
    rejected: REJECTED,
    close: CLOSE_WITHOUT_SOCKET,
  },
  handshaking: {
    welcomed: createTransition('open', 'resume'),
    'principal-changed': createTransition('waiting', 'terminate', 'abandon-operations'),
    timeout: RETRY,
    lost: RETRY,
    rejected: REJECTED,
    close: CLOSE_SOCKET,
  },
  open: {
    timeout: createTransition('probing', 'ping'),
    goaway: RETIRE_AND_RETRY,
    'principal-changed': RETIRE_AND_ABANDON,
    lost: RETRY,
    rejected: REJECTED,
    wake: createTransition('probing', 'ping'),
    close: CLOSE_SOCKET,
  },
  probing: {
    received: createTransition('open'),
    timeout: RETRY,
    goaway: RETIRE_AND_RETRY,
    'principal-changed': RETIRE_AND_ABANDON,
    lost: RETRY,
    rejected: REJECTED,
    close: CLOSE_SOCKET,
  },
  waiting: {
    timeout: createTransition('connecting', 'connect'),
    rejected: REJECTED,
    wake: createTransition('connecting', 'connect'),
    close: CLOSE_WITHOUT_SOCKET,
  },
  closing: {
    timeout: createTransition('closed', 'terminate', 'end'),
    lost: createTransition('closed', 'terminate', 'end'),
    rejected: createTransition('closed', 'terminate', 'end'),
  },
  closed: {},
};

/** The next state and what to do; an event without meaning in a state changes nothing. */
export function getTransition(state: ConnectionState, event: ConnectionEvent): Transition {
  return TRANSITIONS[state][event] ?? { state, actions: [] };
}
