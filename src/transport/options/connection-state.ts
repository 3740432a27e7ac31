/**
 * The life of a connection as a pure state machine; docs/reference/wire-protocol.md has the table.
 */

/**
 * - `connecting`: a socket is being opened.
 * - `handshaking`: the client sent `hello` and waits for `welcome`.
 * - `open`: operations flow.
 * - `probing`: the server was silent for a while, and the client sent a `ping`.
 * - `waiting`: there is no socket to submit on; the next attempt comes after a delay. After a token
 *   was refused, it comes with the next operation.
 * - `closing`: the client is done and waits for the socket to close.
 * - `closed`: for ever.
 */
export type ConnectionState =
  | 'connecting'
  | 'handshaking'
  | 'open'
  | 'probing'
  | 'waiting'
  | 'closing'
  | 'closed';

export type ConnectionEvent =
  | 'opened' // the socket is open
  | 'welcomed' // the server accepted the client
  | 'principal-changed' // the server or the application uses another principal than before
  | 'received' // any message arrived
  | 'timeout' // the time allowed for the present state is over; in `open`, the server was silent
  | 'goaway' // the server is about to close, and takes no more submissions
  | 'lost' // the socket closed or failed, and another attempt may help
  | 'token-refused' // the server refused the token, and the application may give another one
  | 'rejected' // the server refused this client for good, or the policy gives up
  | 'wake' // the network may be back
  | 'close'; // the application is done

export type ConnectionAction =
  | 'connect' // open a socket
  | 'handshake' // send `hello`
  | 'resume' // submit all operations without a final that wait for no answer, under the same ids
  | 'ping'
  | 'drain' // keep the socket beside the next one, for the answers that are still to come on it
  | 'terminate' // forget the socket, closing it without waiting for the peer
  | 'close-socket' // acknowledge what is done and close the socket in order
  | 'fail' // fail all operations without a final
  // Fail all operations without a final, because they belong to another principal. Then use a new
  // client id.
  | 'abandon-operations'
  | 'end'; // notify the callers that wait for the end

export interface Transition {
  readonly state: ConnectionState;
  readonly actions: readonly ConnectionAction[];
}

type TransitionRow = Partial<Record<ConnectionEvent, Transition>>;

const createTransition = (state: ConnectionState, ...actions: ConnectionAction[]): Transition => ({
  state,
  actions,
});

const RETRY = createTransition('waiting', 'terminate');
const RETIRE_AND_RETRY = createTransition('waiting', 'drain');
// Retires the connection first, so that queued messages are sent.
const RETIRE_AND_ABANDON = createTransition('waiting', 'drain', 'abandon-operations');
const FAIL_AND_WAIT = createTransition('waiting', 'terminate', 'fail');
const FAIL_AND_END = createTransition('closed', 'terminate', 'fail', 'end');
const END = createTransition('closed', 'terminate', 'end');
const CLOSE_SOCKET = createTransition('closing', 'fail', 'close-socket');

const TRANSITIONS: Readonly<Record<ConnectionState, TransitionRow>> = {
  connecting: {
    opened: createTransition('handshaking', 'handshake'),
    timeout: RETRY,
    lost: RETRY,
    rejected: FAIL_AND_END,
    close: FAIL_AND_END,
  },
  handshaking: {
    welcomed: createTransition('open', 'resume'),
    'principal-changed': createTransition('waiting', 'terminate', 'abandon-operations'),
    timeout: RETRY,
    lost: RETRY,
    'token-refused': FAIL_AND_WAIT,
    rejected: FAIL_AND_END,
    close: CLOSE_SOCKET,
  },
  open: {
    timeout: createTransition('probing', 'ping'),
    goaway: RETIRE_AND_RETRY,
    'principal-changed': RETIRE_AND_ABANDON,
    lost: RETRY,
    'token-refused': FAIL_AND_WAIT,
    rejected: FAIL_AND_END,
    wake: createTransition('probing', 'ping'),
    close: CLOSE_SOCKET,
  },
  probing: {
    received: createTransition('open'),
    timeout: RETRY,
    goaway: RETIRE_AND_RETRY,
    'principal-changed': RETIRE_AND_ABANDON,
    lost: RETRY,
    'token-refused': FAIL_AND_WAIT,
    rejected: FAIL_AND_END,
    close: CLOSE_SOCKET,
  },
  waiting: {
    timeout: createTransition('connecting', 'connect'),
    rejected: FAIL_AND_END,
    wake: createTransition('connecting', 'connect'),
    close: FAIL_AND_END,
  },
  closing: {
    timeout: END,
    lost: END,
    rejected: END,
  },
  closed: {},
};

/** Returns the next state and its actions. An event without meaning in a state changes nothing. */
export function getTransition(state: ConnectionState, event: ConnectionEvent): Transition {
  return TRANSITIONS[state][event] ?? { state, actions: [] };
}
