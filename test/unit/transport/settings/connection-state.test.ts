/** The connection's states × events, all of them (docs/protocol.md shows the same table). */
import { describe, expect, test } from 'vitest';
import {
  transition,
  type ConnectionEvent,
  type ConnectionState,
} from '../../../../src/transport/settings/connection-state.ts';

/** Next state and actions, or `-` where the event changes nothing. */
type Outcome = string;

const RETRY = 'waiting: drop';
const MOVE_ON = 'waiting: retire';
const PART = 'waiting: retire disown';
const END = 'closed: drop fail end';
const LEAVE = 'closing: fail farewell';
const NOTHING = '-';

const TABLE: Record<ConnectionState, Record<ConnectionEvent, Outcome>> = {
  connecting: {
    opened: 'greeting: greet',
    welcomed: NOTHING,
    estranged: NOTHING,
    heard: NOTHING,
    elapsed: RETRY,
    goaway: NOTHING,
    lost: RETRY,
    refused: END,
    wake: NOTHING,
    close: END,
  },
  greeting: {
    opened: NOTHING,
    welcomed: 'open: resume',
    estranged: 'waiting: drop disown',
    heard: NOTHING,
    elapsed: RETRY,
    goaway: NOTHING,
    lost: RETRY,
    refused: END,
    wake: NOTHING,
    close: LEAVE,
  },
  open: {
    opened: NOTHING,
    welcomed: NOTHING,
    estranged: PART,
    heard: NOTHING,
    elapsed: 'probing: ping',
    goaway: MOVE_ON,
    lost: RETRY,
    refused: END,
    wake: 'probing: ping',
    close: LEAVE,
  },
  probing: {
    opened: NOTHING,
    welcomed: NOTHING,
    estranged: PART,
    heard: 'open:',
    elapsed: RETRY,
    goaway: MOVE_ON,
    lost: RETRY,
    refused: END,
    wake: NOTHING,
    close: LEAVE,
  },
  waiting: {
    opened: NOTHING,
    welcomed: NOTHING,
    estranged: NOTHING,
    heard: NOTHING,
    elapsed: 'connecting: connect',
    goaway: NOTHING,
    lost: NOTHING,
    refused: END,
    wake: 'connecting: connect',
    close: END,
  },
  closing: {
    opened: NOTHING,
    welcomed: NOTHING,
    estranged: NOTHING,
    heard: NOTHING,
    elapsed: 'closed: drop end',
    goaway: NOTHING,
    lost: 'closed: drop end',
    refused: 'closed: drop end',
    wake: NOTHING,
    close: NOTHING,
  },
  closed: {
    opened: NOTHING,
    welcomed: NOTHING,
    estranged: NOTHING,
    heard: NOTHING,
    elapsed: NOTHING,
    goaway: NOTHING,
    lost: NOTHING,
    refused: NOTHING,
    wake: NOTHING,
    close: NOTHING,
  },
};

const states = Object.keys(TABLE) as ConnectionState[];
const events = Object.keys(TABLE.open) as ConnectionEvent[];

describe.each(states)('connection state: %s', (state) => {
  test.each(events)('%s', (event) => {
    const next = transition(state, event);
    const changed = next.state !== state || next.actions.length > 0;
    expect(changed ? `${next.state}: ${next.actions.join(' ')}`.trimEnd() : NOTHING).toBe(TABLE[state][event]);
  });
});

test('connection state: every state but closed → close leads to closed', () => {
  for (const state of states) {
    const { state: left } = transition(state, 'close');
    const ended = left === 'closing' ? transition(left, 'elapsed').state : left;
    expect(ended).toBe('closed');
  }
});
