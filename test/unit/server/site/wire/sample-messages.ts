/** One message of each kind, with all that it may have. */
import type { Envelope } from '../../../../../src/server/site/wire/envelope.ts';
import { RULES_VERSION } from '../../../../../src/server/service/records/deployment-version.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import type { SequencedMessage } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import type {
  BlueOperation,
  RedOperation,
  RedRecord,
} from '../../../../../src/server/service/records/records.ts';
import { siteAt } from '../../../../support/origins.ts';

export const ORIGINS = Origins.create(['ireland', 'frankfurt', 'virginia']);
const [IRL, FRK] = [siteAt(0), siteAt(1)];

export const BLUE: BlueOperation = {
  id: 'anna/1',
  site: FRK,
  sequence: 1,
  vector: [0, 3, 7, 0],
  shadow: 'deposit',
  effects: [{ table: 'accounts', key: 'a', field: 'balance', action: 'add', value: 5 }],
  reply: {
    value: { at: new Date(0), bytes: new Uint8Array([1, 2]), large: 2n ** 70n },
    meta: { left: 1 },
  },
  hop: 0,
};

export const RED: RedOperation = {
  kind: 'operation',
  id: 'ireland-0-k5/7',
  site: IRL,
  attempt: 2,
  epoch: 2 ** 40,
  dependencies: [['anna/1', 1]],
  acknowledged: 3,
  snapshot: [9, 3, 7, 0],
  operation: 'withdraw',
  reads: ['accounts\u0000a\u0000balance'],
  ranges: [{ table: 'accounts', field: 'owner', from: 'a', before: 'b' }],
  created: ['accounts\u0000a'],
  clock: 1_700_000_000_000_000,
  shadow: 'withdrawAck',
  args: { account: 'a', amount: 5 },
  effects: [{ table: 'accounts', key: 'a', field: 'balance', action: 'add', value: -5 }],
  reply: { value: { paid: true } },
};

const FAILURE = { code: 'CONFLICT', message: 'others were first', field: 'accounts.a' } as const;
const SLOT = { id: 'anna/2', hop: 0, by: 1 };
const RECORD = { kind: 'record', reply: { value: 5 }, vector: [0, 3, 7, 0] } as const;
const ENTRY = { origin: FRK, epoch: 1, sequence: 1 };

const CHANGE = {
  kind: 'member',
  action: 'change',
  id: 'a-0-1.member/1',
  site: IRL,
  name: 'tok',
  directory: 'd1',
} as const;
const ADDRESS = { url: 'wss://tok:7420', cluster: 'tok:7421' };
const ACK = {
  kind: 'member',
  action: 'ack',
  id: 'a-0-1.member/2',
  site: IRL,
  change: 7,
  held: [[FRK, 3, 9]],
} as const;

const VERSION = {
  rules: 1,
  service: {
    hash: '00112233445566aa',
    tables: { seats: { removable: true, fields: { free: 'counter' } } },
    operations: { take: '0123456789abcdef red' },
    replies: ['take'],
  },
} as const;

/** The type asks for a record of each kind. */
export const RED_RECORDS: Readonly<Record<RedRecord['kind'], RedRecord>> = {
  operation: RED,
  close: { kind: 'close', id: 'anna/3', site: FRK, failure: FAILURE },
  marker: { kind: 'marker', id: 'ireland-0-k5/8', site: IRL },
  check: {
    kind: 'check',
    id: 'ireland-0-k5/8',
    site: IRL,
    partition: 1,
    attempt: 1,
    snapshot: [0, 3, 0],
    reads: ['accounts/us/ann.cents'],
  },
  hold: { kind: 'hold', id: 'anna/3', site: FRK, partition: 1, operation: { ...RED, others: [1] } },
  release: {
    kind: 'release',
    id: 'anna/3',
    site: FRK,
    partition: 1,
    execution: '2.1.1 anna/3',
    home: 0,
    stamp: 9,
  },
  abort: { kind: 'abort', id: 'anna/3', site: FRK, execution: '2.1.1 anna/3' },
  opening: {
    kind: 'opening',
    id: 'ireland-0-k5.opening/1',
    site: IRL,
    partition: 1,
    stamp: 9,
    holds: [{ operation: { ...RED, others: [1] }, stamp: 8 }],
  },
  member: CHANGE,
  activate: { kind: 'activate', id: 'a-0-1.version/1', site: IRL, version: VERSION },
};

type Message = Envelope['message'] | SequencedMessage<RedRecord>;

export const MESSAGES: readonly Message[] = [
  {
    kind: 'blue.operations',
    operations: [BLUE, { ...BLUE, id: 'anna/2', sequence: 2, shadow: '', effects: [] }],
    digest: -5,
  },
  { kind: 'blue.received', sequence: 4 },
  { kind: 'blue.heartbeat', sequence: 0 },
  { kind: 'blue.have', synced: [0, 1, 2, 3], isRequest: true },
  { kind: 'blue.resend', origin: FRK, after: 0 },
  { kind: 'slot.request', ...SLOT },
  { kind: 'slot.answered', ...SLOT, decision: RECORD },
  { kind: 'slot.answered', ...SLOT, decision: { kind: 'record', failure: FAILURE, vector: [] } },
  { kind: 'slot.answered', ...SLOT, decision: { kind: 'claim', site: IRL, hop: 1 } },
  { kind: 'slot.answered', ...SLOT, decision: { kind: 'handover' } },
  {
    kind: 'rights.request',
    requests: [{ table: 'events', key: 'E', field: 'seats', amount: 3, target: 'here' }],
    seenStamp: 1_700_000_000_000_000,
  },
  {
    kind: 'rows.request',
    range: { table: 'accounts', from: 'a', before: 'b' },
    seen: [9, 3, 7, 0],
    isDetailed: true,
  },
  { kind: 'rows.digest', range: { table: 'accounts' }, at: [9, 3, 7, 0], sum: 2 ** 52 - 1 },
  {
    kind: 'rows.digest',
    range: { table: 'accounts', before: 'b' },
    at: [9, 3, 7, 0],
    sum: 5,
    rows: [['a', 5]],
  },
  { kind: 'log.propose', epoch: 1, sequence: 1, record: RED },
  { kind: 'log.propose', epoch: 1, sequence: 2, record: RED_RECORDS.marker },
  {
    kind: 'log.append',
    position: 7,
    entries: [
      { ...ENTRY, record: RED },
      { ...ENTRY, sequence: 2, record: RED_RECORDS.close },
      {
        ...ENTRY,
        sequence: 3,
        record: { ...RED, domainError: { ...FAILURE, domain: { name: 'soldOut', data: 1 } } },
      },
    ],
    committed: 5,
    digest: 2 ** 30,
  },
  { kind: 'log.appended', length: 3, committed: 3 },
  { kind: 'term.superseded', term: 2 ** 50 },
  { kind: 'blue.gone', origin: FRK, after: 9 },
  { kind: 'log.gone', length: 4 },
  { kind: 'log.append', position: 7, entries: [], committed: 2, probe: 1 },
  { kind: 'log.appended', length: 3, committed: 3, received: 5, probe: 1 },
  { kind: 'log.check', epoch: 1, last: 9, probe: 2 },
  { kind: 'log.checked', epoch: 1, next: 7, probe: 2 },
  { kind: 'member.closed', final: 3 },
  { kind: 'member.closed', final: null },
  { kind: 'log.propose', epoch: 1, sequence: 3, record: CHANGE },
  {
    kind: 'log.propose',
    epoch: 1,
    sequence: 4,
    record: { ...CHANGE, directory: null, address: ADDRESS },
  },
  { kind: 'log.propose', epoch: 1, sequence: 5, record: ACK },
  {
    kind: 'log.propose',
    epoch: 1,
    sequence: 6,
    record: RED_RECORDS.activate,
  },
  {
    kind: 'log.propose',
    epoch: 1,
    sequence: 7,
    record: { ...RED_RECORDS.activate, partition: 1, place: 9 } as never,
  },
  {
    kind: 'node.hello',
    directory: 'd1',
    generation: 0,
    accepted: 2 ** 50,
    own: { length: 9, digest: 7 },
    known: { length: 5 },
    isRequest: true,
    red: { length: 3, digest: -1 },
    ownBefore: { length: 4, digest: 1 },
    redBefore: { length: 2 },
  },
  { kind: 'node.fork', term: 7, reason: 'another node has gone on' },
  { kind: 'node.known', term: 7, known: { length: 3, digest: 9 }, red: { length: 2 } },
  { kind: 'node.twin', term: 7, reason: 'another node runs at the address of the site' },
];

/** An envelope from the second site to the first. */
export function envelopeOf(message: Message, value: Partial<Envelope> = {}): Envelope {
  const [from, to] = [FRK, IRL].map((site) => ({ site, partition: 0 })) as [
    Envelope['from'],
    Envelope['to'],
  ];
  return { deployment: 'shop#1', rules: RULES_VERSION, from, to, term: 5, message, ...value };
}
