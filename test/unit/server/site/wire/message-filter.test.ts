/**
 * Who is let in: messages of this deployment, for this replica, of the latest start of a site that
 * is known.
 */
// @rule BS-E1, BS-E3, BS-E4, BS-E5, CLU-I2, CLU-M10
import { describe, expect, test, vi } from 'vitest';
import { receiveEnvelopes } from '../../../../../src/server/node/links/site-messages.ts';
import { SEQUENCED_MESSAGE_FORMAT } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import { EnvelopeCodec } from '../../../../../src/server/site/wire/envelope-codec.ts';
import { MessageFilter } from '../../../../../src/server/site/wire/message-filter.ts';
import { RULES_VERSION } from '../../../../../src/server/service/records/deployment-version.ts';
import type {
  Envelope,
  RejectedMessageError,
} from '../../../../../src/server/site/wire/envelope.ts';
import { createEpoch, MAX_START } from '../../../../../src/server/log/epoch.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';
import type { SiteDriver } from '../../../../../src/server/node/site-driver.ts';
import { siteAt } from '../../../../support/origins.ts';
import { envelopeOf, ORIGINS } from './sample-messages.ts';

const [IRL, FRK, VRG] = [siteAt(0), siteAt(1), siteAt(2)];
const HEARTBEAT = { kind: 'blue.heartbeat', sequence: 1 } as const;

function doorOf(
  site: Origin,
  epoch = 5,
): { readonly door: MessageFilter; readonly reported: RejectedMessageError[] } {
  const reported: RejectedMessageError[] = [];
  const ownSite = { site, partition: 0 };
  const onRejected = (rejection: RejectedMessageError): void => void reported.push(rejection);
  return {
    door: new MessageFilter({ deployment: 'shop#1', origins: ORIGINS, ownSite, epoch, onRejected }),
    reported,
  };
}

/** Opens an envelope whose start was accepted. */
function openAccepted(door: MessageFilter, envelope: Envelope): ReturnType<MessageFilter['open']> {
  door.accept(envelope.from.site, envelope.term);
  return door.open(envelope);
}

test('sealed at one door, opened at another → the message', () => {
  const envelope = doorOf(FRK, 7).door.seal(IRL, HEARTBEAT);
  expect(envelope).toEqual(envelopeOf(HEARTBEAT, { term: 7 }));
  expect(openAccepted(doorOf(IRL).door, envelope)).toBe(HEARTBEAT);
});

test('to itself, or to an unknown site → cannot be sent', () => {
  const { door } = doorOf(IRL);
  for (const to of [IRL, 0 as Origin, 9 as Origin])
    expect(() => door.seal(to, HEARTBEAT)).toThrow('nothing can be sent');
});

describe('rejected, counted and reported', () => {
  const at = (site: number, partition = 0): Envelope['from'] => ({
    site: site as Origin,
    partition,
  });
  for (const [description, value, reason] of [
    ['another deployment', { deployment: 'shop#2' }, 'deployment'],
    ['other rules', { rules: RULES_VERSION + 1 }, 'rules'],
    ['for another site', { to: at(VRG) }, 'address'],
    ['for another partition', { to: at(IRL, 1) }, 'address'],
    ['from another partition', { from: at(FRK, 1) }, 'address'],
    ['from itself', { from: at(IRL) }, 'address'],
    ['from the red order', { from: at(0) }, 'address'],
  ] as const) {
    test(description, () => {
      const { door, reported } = doorOf(IRL);
      expect(door.open(envelopeOf(HEARTBEAT, value))).toBeUndefined();
      expect([
        door.rejections[reason],
        reported.map((rejection) => rejection.reason),
        door.takeResponses(),
      ]).toEqual([1, [reason], []]);
    });
  }
});

test('from an origin that has joined, as others know → counted, and no alarm', () => {
  const { door, reported } = doorOf(IRL);
  expect(
    door.open(envelopeOf(HEARTBEAT, { from: { site: 9 as Origin, partition: 0 } })),
  ).toBeUndefined();
  expect([door.rejections.origin, reported, door.takeResponses()]).toEqual([1, [], []]);
});

test('for an earlier or a later origin of its own site → counted, and no alarm', () => {
  const origins = Origins.create(['ireland', 'frankfurt']);
  const own = origins.add({ site: 'frankfurt', incarnation: 4, state: 'open' });
  const reported: RejectedMessageError[] = [];
  const onRejected = (rejection: RejectedMessageError): void => void reported.push(rejection);
  const ownSite = { site: own, partition: 0 };
  const door = new MessageFilter({ deployment: 'shop#1', origins, ownSite, epoch: 5, onRejected });
  const from = { site: IRL, partition: 0 };
  for (const to of [
    { site: FRK, partition: 0 },
    { site: (own + 1) as Origin, partition: 0 },
  ])
    expect(door.open(envelopeOf(HEARTBEAT, { from, to }))).toBeUndefined();
  expect([door.rejections.origin, reported]).toEqual([2, []]);
});

test.for([
  [9, 'origin'],
  [VRG, 'address'],
] as const)(
  'over the link of another site, from ordinal %s → rejected because of its %s',
  ([site, reason]) => {
    const codec = new EnvelopeCodec(SEQUENCED_MESSAGE_FORMAT);
    const bytes = codec.encode(
      envelopeOf(HEARTBEAT, { from: { site: site as Origin, partition: 0 } }),
    );
    const rejectMessage = vi.fn<SiteDriver['rejectMessage']>();
    const driver = { rejectMessage } as unknown as SiteDriver;
    receiveEnvelopes('frankfurt', bytes, { codec, deployment: 'shop#1', origins: ORIGINS, driver });
    expect(rejectMessage.mock.calls.map(([rejection]) => rejection.reason)).toEqual([reason]);
  },
);

test('from a closed site → counted, and the sender gets a message that it is closed', () => {
  const origins = Origins.create(['ireland', 'frankfurt']);
  const ownSite = { site: IRL, partition: 0 };
  const door = new MessageFilter({ deployment: 'shop#1', origins, ownSite, epoch: 5 });
  origins.set(FRK, { state: 'closing' });
  expect(door.open(envelopeOf(HEARTBEAT))).toBeUndefined();
  origins.set(FRK, { state: 'closed', final: { sequence: 3, stamp: 7 } });
  expect(door.open(envelopeOf(HEARTBEAT))).toBeUndefined();
  expect(door.takeResponses().map(({ to, message }) => [to.site, message])).toEqual([
    [FRK, { kind: 'member.closed', final: null }],
    [FRK, { kind: 'member.closed', final: 3 }],
  ]);
  expect(door.rejections.origin).toBe(2);
});

describe('terms', () => {
  test('a message of an earlier start after one of a later start → rejected, and its sender gets the later term', () => {
    const { door, reported } = doorOf(IRL);
    const terms = [6, 6, 5, 7, 6];
    expect(
      terms.map((term) => openAccepted(door, envelopeOf(HEARTBEAT, { term })) !== undefined),
    ).toEqual([true, true, false, true, false]);
    expect([door.rejections.term, reported]).toEqual([2, []]);
    const answers = door.takeResponses();
    expect(answers.map(({ to, message }) => [to.site, message])).toEqual([
      [FRK, { kind: 'term.superseded', term: 6 }],
      [FRK, { kind: 'term.superseded', term: 7 }],
    ]);
    expect(door.takeResponses()).toEqual([]);
  });

  test('of each sender its own', () => {
    const { door } = doorOf(IRL);
    openAccepted(door, envelopeOf(HEARTBEAT, { term: 9 }));
    const other = envelopeOf(HEARTBEAT, { term: 1, from: { site: VRG, partition: 0 } });
    expect(openAccepted(door, other)).toBe(HEARTBEAT);
  });

  test('a start with a lower number than the one before → goes on above that number once it gets the higher term', () => {
    const [before, again] = [createEpoch(6, 0.5), createEpoch(6, 0.25)];
    const receiver = doorOf(IRL).door;
    openAccepted(receiver, envelopeOf(HEARTBEAT, { term: before }));
    const sender = doorOf(FRK, again).door;
    expect(receiver.open(sender.seal(IRL, HEARTBEAT))).toBeUndefined();
    for (const answer of receiver.takeResponses()) expect(sender.open(answer)).toBeUndefined();
    expect(sender.epoch).toBe(createEpoch(7, 0.25));
    expect(openAccepted(receiver, sender.seal(IRL, HEARTBEAT))).toBe(HEARTBEAT);
  });

  test('term.superseded with a term not above its own → its term stays', () => {
    const { door } = doorOf(IRL, 9);
    door.open(envelopeOf({ kind: 'term.superseded', term: 9 }));
    expect(door.epoch).toBe(9);
  });

  test('term.superseded with a term above the highest allowed one → rejected, and its own term stays', () => {
    const { door, reported } = doorOf(IRL);
    for (const term of [MAX_START, MAX_START - 1]) {
      expect(door.open(envelopeOf({ kind: 'term.superseded', term }))).toBeUndefined();
    }
    expect(door.epoch).toBe(5);
    expect(reported.map(({ reason }) => reason)).toEqual(['content', 'content']);
  });

  test('recalled at the next start → nothing of an earlier one is taken', () => {
    const { door } = doorOf(IRL);
    door.recall(new Map([[FRK, 7]]));
    expect(door.open(envelopeOf(HEARTBEAT, { term: 6 }))).toBeUndefined();
    expect(door.open(envelopeOf(HEARTBEAT, { term: 7 }))).toBe(HEARTBEAT);
    expect([door.accept(FRK, 7), door.accept(FRK, 8)]).toEqual([false, true]);
  });

  test('takes messages about the start of a node before that start is accepted, and no others', () => {
    const unknown: unknown[] = [];
    const door = new MessageFilter({
      deployment: 'shop#1',
      origins: ORIGINS,
      ownSite: { site: IRL, partition: 0 },
      epoch: 5,
      onUnknownStart: (...args) => unknown.push(args),
    });
    const fork = { kind: 'node.fork', term: 5, reason: 'others' } as const;
    expect(door.open(envelopeOf(HEARTBEAT))).toBeUndefined();
    expect(door.open(envelopeOf(fork))).toBe(fork);
    expect([unknown, door.rejections.start]).toEqual([[[FRK, 5]], 1]);
  });
});
