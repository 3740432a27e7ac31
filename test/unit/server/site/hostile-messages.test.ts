/**
 * Messages of the right shape with impossible content: a table that the service does not have, a
 * stamp that no clock gives. They are rejected and counted, the site goes on, and later valid
 * messages of the same sender are taken.
 */
import { beforeEach, expect, test } from 'vitest';
import { RULES_VERSION } from '../../../../src/server/service/records/deployment-version.ts';
import type { RejectedMessageError } from '../../../../src/server/site/wire/envelope.ts';
import { EnvelopeCodec } from '../../../../src/server/site/wire/envelope-codec.ts';
import { SEQUENCED_MESSAGE_FORMAT } from '../../../../src/server/log/sequenced/sequenced-messages.ts';
import type {
  BlueOperation,
  RedOperation,
} from '../../../../src/server/service/records/records.ts';
import { MAX_STAMP } from '../../../../src/server/log/clock.ts';
import { dequeue, enqueue, get, put } from '../../../../src/operations/index.ts';
import { siteAt } from '../../../support/origins.ts';
import { Sites } from './sites.ts';
import type { SentMessage } from './sites.ts';
import { notesService } from '../node/storage/notes-service.ts';

const CODEC = new EnvelopeCodec(SEQUENCED_MESSAGE_FORMAT);
const [SENDER, RECEIVER] = [1, 0];
const WRITE = { table: 'values', key: 'k', field: 'value', action: 'write', value: 1 };
const PUSH = { table: 'queues', key: 'q', field: 'items', action: 'push', value: 1 };

const BLUE: BlueOperation = {
  id: 'mallory/1',
  site: siteAt(SENDER),
  sequence: 1,
  vector: [0, 0, 5, 0],
  shadow: 'write',
  effects: [WRITE],
  reply: { value: null },
};

const RED: RedOperation = {
  kind: 'operation',
  id: 'mallory/2',
  site: siteAt(SENDER),
  attempt: 1,
  epoch: 2,
  snapshot: [0, 0, 0, 0],
  operation: 'enqueue',
  reads: [],
  clock: 5,
  shadow: 'push',
  effects: [PUSH],
  reply: { value: null },
};

let sites: Sites;
let reported: RejectedMessageError[];
beforeEach(() => {
  reported = [];
  sites = new Sites(notesService(), 3, {
    onMessageRejected: (rejection) => void reported.push(rejection),
  });
});

/** The message comes from the sender's start, as its bytes say it. */
function send(message: SentMessage): void {
  const [from, to] = [SENDER, RECEIVER].map((site) => ({ site: siteAt(site), partition: 0 }));
  const term = sites.machines[SENDER]?.door.filter.epoch ?? 0;
  const value = { deployment: 'test', rules: RULES_VERSION, from: from!, to: to!, term, message };
  for (const bytes of CODEC.encode(value)) {
    const envelope = CODEC.decode(bytes, sites.origins, 'test');
    sites.sent.push({ from: SENDER, to: RECEIVER, message, envelope });
  }
  sites.settle();
}

const blue = (value: Partial<BlueOperation>): SentMessage => ({
  kind: 'blue.operations',
  operations: [{ ...BLUE, ...value }],
});
const proposal = (value: Partial<RedOperation>): SentMessage => ({
  kind: 'log.propose',
  epoch: 2,
  sequence: 1,
  record: { ...RED, ...value },
});

test.each<[string, SentMessage, RegExp]>([
  ['an unknown table', blue({ effects: [{ ...WRITE, table: 'nothing' }] }), /table 'nothing'/],
  [
    'an unknown field',
    blue({ effects: [{ ...WRITE, field: 'nothing' }] }),
    /field 'values.nothing'/,
  ],
  [
    'an action of another kind of field',
    blue({ effects: [{ ...WRITE, action: 'add' }] }),
    /register, which has no 'add'/,
  ],
  [
    'what every object has, for an action',
    blue({ effects: [{ ...WRITE, action: 'toString' }] }),
    /has no 'toString'/,
  ],
  [
    'a row that stays, removed',
    blue({ effects: [{ ...WRITE, field: '', action: 'remove' }] }),
    /whose rows stay/,
  ],
  ['blue, on a queue', blue({ effects: [PUSH] }), /only red ones/],
  [
    'a stamp of 2^53 - 1',
    blue({ vector: [0, 0, 2 ** 53 - 1, 0] }),
    /no clock can have given the stamp/,
  ],
  [
    'a stamp of another that no clock gives',
    blue({ vector: [MAX_STAMP + 1, 0, 5, 0] }),
    /no clock/,
  ],
  ['no stamp of its own', blue({ vector: [3] }), /no stamp of its own/],
  [
    'a low watermark without a vector',
    blue({ shadow: '', effects: [], reply: { value: 'all' } }),
    /low watermark/,
  ],
  [
    'a red record on an unknown table',
    proposal({ effects: [{ ...PUSH, table: 'nothing' }] }),
    /table 'nothing'/,
  ],
  ['a red record whose clock shows what none can', proposal({ clock: 2 ** 53 - 1 }), /no clock/],
  ['a red record of another site', proposal({ site: siteAt(2) }), /is proposed by/],
  [
    'an entry of the log on an unknown table',
    {
      kind: 'log.append',
      position: 0,
      entries: [
        {
          origin: RED.site,
          epoch: 2,
          sequence: 1,
          record: { ...RED, effects: [{ ...PUSH, table: '' }] },
        },
      ],
      committed: 0,
    },
    /table ''/,
  ],
  [
    'an answer that rests on what no clock gives',
    {
      kind: 'slot.answered',
      id: 'a/1',
      hop: 0,
      by: 1,
      decision: { kind: 'record', vector: [2 ** 53 - 1] },
    },
    /no clock/,
  ],
])(
  '%s → refused and counted; the site goes on, and takes what comes next',
  (_, message, reason) => {
    send(message);
    expect(reported).toEqual([
      expect.objectContaining({ reason: 'content', from: siteAt(SENDER) }),
    ]);
    expect(reported[0]?.message).toMatch(reason);
    expect(sites.machines[RECEIVER]?.rejections.content).toBe(1);

    sites.submit(SENDER, put('k', 'in earnest'));
    sites.submit(SENDER, enqueue('q', 'a'));
    sites.submit(RECEIVER, put('own', 1));
    sites.settle();
    expect(sites.read(RECEIVER, get('k'))).toBe('in earnest');
    expect(sites.read(2, get('own'))).toBe(1);
    const popped = sites.submit(RECEIVER, dequeue('q'));
    sites.pass(100);
    expect(popped.value).toEqual({ item: 'a' });
  },
);
