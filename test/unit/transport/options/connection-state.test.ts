/** The connection's states × events, all of them (docs/reference/wire-protocol.md shows the same table). */
import { describe, expect, test } from 'vitest';
import {
  getTransition,
  type ConnectionEvent,
  type ConnectionState,
} from '../../../../src/transport/options/connection-state.ts';

/** Next state and actions, or `-` where the event changes nothing. */
type Outcome = string;

const RETRY = 'waiting: terminate';
const MOVE_ON = 'waiting: drain';
const PART = 'waiting: drain abandon-operations';
const END = 'closed: terminate fail end';
const LEAVE = 'closing: fail close-socket';
const NOTHING = '-';

const TABLE: Record<ConnectionState, Record<ConnectionEvent, Outcome>> = {
  connecting: {
    opened: 'handshaking: handshake',
    welcomed: NOTHING,
    'principal-changed': NOTHING,
    received: NOTHING,
    timeout: RETRY,
    goaway: NOTHING,
    lost: RETRY,
    rejected: END,
    wake: NOTHING,
    close: END,
  },
  handshaking: {
    opened: NOTHING,
    welcomed: 'open: resume',
    'principal-changed': 'waiting: terminate abandon-operations',
    received: NOTHING,
    timeout: RETRY,
    goaway: NOTHING,
    lost: RETRY,
    rejected: END,
    wake: NOTHING,
    close: LEAVE,
  },
  open: {
    opened: NOTHING,
    welcomed: NOTHING,
    'principal-changed': PART,
    received: NOTHING,
    timeout: 'probing: ping',
    goaway: MOVE_ON,
    lost: RETRY,
    rejected: END,
    wake: 'probing: ping',
    close: LEAVE,
  },
  probing: {
    opened: NOTHING,
    welcomed: NOTHING,
    'principal-changed': PART,
    received: 'open:',
    timeout: RETRY,
    goaway: MOVE_ON,
    lost: RETRY,
    rejected: END,
    wake: NOTHING,
    close: LEAVE,
  },
  waiting: {
    opened: NOTHING,
    welcomed: NOTHING,
    'principal-changed': NOTHING,
    received: NOTHING,
    timeout: 'connecting: connect',
    goaway: NOTHING,
    lost: NOTHING,
    rejected: END,
    wake: 'connecting: connect',
    close: END,
  },
  closing: {
    opened: NOTHING,
    welcomed: NOTHING,
    'principal-changed': NOTHING,
    received: NOTHING,
    timeout: 'closed: terminate end',
    goaway: NOTHING,
    lost: 'closed: terminate end',
    rejected: 'closed: terminate end',
    wake: NOTHING,
    close: NOTHING,
  },
  closed: {
    opened: NOTHING,
    welcomed: NOTHING,
    'principal-changed': NOTHING,
    received: NOTHING,
    timeout: NOTHING,
    goaway: NOTHING,
    lost: NOTHING,
    rejected: NOTHING,
    wake: NOTHING,
    close: NOTHING,
  },
};

const states = Object.keys(TABLE) as ConnectionState[];
const events = Object.keys(TABLE.open) as ConnectionEvent[];

describe.each(states)('connection state: %s', (state) => {
  test.each(events)('%s', (event) => {
    const next = getTransition(state, event);
    const changed = next.state !== state || next.actions.length > 0;
    expect(changed ? `${next.state}: ${next.actions.join(' ')}`.trimEnd() : NOTHING).toBe(TABLE[state][event]);
  });
});

test('connection state: every state but closed → close leads to closed', () => {
  for (const state of states) {
    const { state: left } = getTransition(state, 'close');
    const ended = left === 'closing' ? getTransition(left, 'timeout').state : left;
    expect(ended).toBe('closed');
  }
});
