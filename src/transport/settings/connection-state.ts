/**
 * The life of a client's connection as a pure state machine: states × events → next state and what to do. The shell in
 * `connection.ts` does the I/O. `docs/protocol.md` has the table; a test runs through all of it.
 */

/**
 * - `connecting`: a socket is being opened.
 * - `greeting`: `hello` is sent, `welcome` awaited.
 * - `open`: operations flow.
 * - `probing`: nothing was heard for a while; a `ping` is out.
 * - `waiting`: there is no socket to submit on; the next attempt comes after a delay.
 * - `closing`: the client is done and waits for the socket to close.
 * - `closed`: for ever.
 */
export type ConnectionState = 'connecting' | 'greeting' | 'open' | 'probing' | 'waiting' | 'closing' | 'closed';

/**
 * - `opened`: the socket is open.
 * - `welcomed`: the server accepted the client.
 * - `estranged`: the server accepted it as somebody else than before, or the application speaks for somebody else.
 * - `heard`: any row arrived.
 * - `elapsed`: the time allowed for the present state is over (in `open`: nothing was heard in it).
 * - `goaway`: the server is about to close, and takes no more submissions.
 * - `lost`: the socket closed or failed, and another attempt may help.
 * - `refused`: the server refused this client for good, or the policy gives up.
 * - `wake`: there is reason to believe that the network is back.
 * - `close`: the application is done.
 */
export type ConnectionEvent =
  | 'opened'
  | 'welcomed'
  | 'estranged'
  | 'heard'
  | 'elapsed'
  | 'goaway'
  | 'lost'
  | 'refused'
  | 'wake'
  | 'close';

/**
 * - `connect`: open a socket.
 * - `greet`: send `hello`.
 * - `resume`: submit whatever has no final and waits for no answer, under the same ids.
 * - `ping`: send `ping`.
 * - `retire`: keep the socket beside the next one, for the answers that are still to come on it.
 * - `drop`: forget the socket, closing it without waiting for the peer.
 * - `farewell`: acknowledge what is done and close the socket in order.
 * - `fail`: fail whatever has no final.
 * - `disown`: fail whatever has no final, since it is another's, and take a new client id.
 * - `end`: tell who waits for the end.
 */
export type ConnectionAction =
  | 'connect'
  | 'greet'
  | 'resume'
  | 'ping'
  | 'retire'
  | 'drop'
  | 'farewell'
  | 'fail'
  | 'disown'
  | 'end';

/** What an event leads to. */
export interface Transition {
  readonly state: ConnectionState;
  readonly actions: readonly ConnectionAction[];
}

type Row = Partial<Record<ConnectionEvent, Transition>>;

const to = (state: ConnectionState, ...actions: ConnectionAction[]): Transition => ({ state, actions });

const RETRY = to('waiting', 'drop');
const MOVE_ON = to('waiting', 'retire');
// Retired first, so that what was said on it is sent.
const PART = to('waiting', 'retire', 'disown');
const REFUSED = to('closed', 'drop', 'fail', 'end');
const LEAVE_WITHOUT_SOCKET = to('closed', 'drop', 'fail', 'end');
const LEAVE = to('closing', 'fail', 'farewell');

const CHANGES: Readonly<Record<ConnectionState, Row>> = {
  connecting: {
    opened: to('greeting', 'greet'),
    elapsed: RETRY,
    lost: RETRY,
    refused: REFUSED,
    close: LEAVE_WITHOUT_SOCKET,
  },
  greeting: {
    welcomed: to('open', 'resume'),
    estranged: to('waiting', 'drop', 'disown'),
    elapsed: RETRY,
    lost: RETRY,
    refused: REFUSED,
    close: LEAVE,
  },
  open: {
    elapsed: to('probing', 'ping'),
    goaway: MOVE_ON,
    estranged: PART,
    lost: RETRY,
    refused: REFUSED,
    wake: to('probing', 'ping'),
    close: LEAVE,
  },
  probing: {
    heard: to('open'),
    elapsed: RETRY,
    goaway: MOVE_ON,
    estranged: PART,
    lost: RETRY,
    refused: REFUSED,
    close: LEAVE,
  },
  waiting: {
    elapsed: to('connecting', 'connect'),
    refused: REFUSED,
    wake: to('connecting', 'connect'),
    close: LEAVE_WITHOUT_SOCKET,
  },
  closing: {
    elapsed: to('closed', 'drop', 'end'),
    lost: to('closed', 'drop', 'end'),
    refused: to('closed', 'drop', 'end'),
  },
  closed: {},
};

/** The next state and what to do; an event without meaning in a state changes nothing. */
export function transition(state: ConnectionState, event: ConnectionEvent): Transition {
  return CHANGES[state][event] ?? { state, actions: [] };
}
