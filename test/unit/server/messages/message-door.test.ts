/** Who is let in: messages of this deployment, for this replica, of the latest start of a site that is known. */
import { describe, expect, test } from 'vitest';
import { MessageDoor } from '../../../../src/server/messages/message-door.ts';
import { RULES } from '../../../../src/server/messages/envelope.ts';
import type { Envelope, RefusedMessage } from '../../../../src/server/messages/envelope.ts';
import { epochOf, START_MAX } from '../../../../src/server/records/epoch.ts';
import type { Origin } from '../../../../src/server/records/origin.ts';
import { siteAt } from '../../../support/origins.ts';
import { envelopeOf, ORIGINS } from './some-messages.ts';

const [IRL, FRK, VRG] = [siteAt(0), siteAt(1), siteAt(2)];
const HEARTBEAT = { kind: 'blue.heartbeat', sequence: 1 } as const;

function doorOf(site: Origin, epoch = 5): { readonly door: MessageDoor; readonly told: RefusedMessage[] } {
  const told: RefusedMessage[] = [];
  const self = { site, partition: 0 };
  const onRefused = (refusal: RefusedMessage): void => void told.push(refusal);
  return { door: new MessageDoor({ deployment: 'shop#1', origins: ORIGINS, self, epoch, onRefused }), told };
}

test('sealed at one door, opened at another → the message', () => {
  const envelope = doorOf(FRK, 7).door.seal(IRL, HEARTBEAT);
  expect(envelope).toEqual(envelopeOf(HEARTBEAT, { term: 7 }));
  expect(doorOf(IRL).door.open(envelope)).toBe(HEARTBEAT);
});

test('to itself, or to nobody → cannot be sent', () => {
  const { door } = doorOf(IRL);
  for (const to of [IRL, 0 as Origin, 9 as Origin])
    expect(() => door.seal(to, HEARTBEAT)).toThrow('nothing can be sent');
});

describe('refused, counted and told of', () => {
  const at = (site: number, partition = 0): Envelope['from'] => ({ site: site as Origin, partition });
  for (const [what, given, reason] of [
    ['another deployment', { deployment: 'shop#2' }, 'deployment'],
    ['other rules', { rules: RULES + 1 }, 'rules'],
    ['for another site', { to: at(VRG) }, 'address'],
    ['for another partition', { to: at(IRL, 1) }, 'address'],
    ['from another partition', { from: at(FRK, 1) }, 'address'],
    ['from itself', { from: at(IRL) }, 'address'],
    ['from the red order', { from: at(0) }, 'address'],
    ['from nobody that is known', { from: at(9) }, 'address'],
  ] as const) {
    test(what, () => {
      const { door, told } = doorOf(IRL);
      expect(door.open(envelopeOf(HEARTBEAT, given))).toBeUndefined();
      expect([door.refusals[reason], told.map((refusal) => refusal.reason), door.takeAnswers()]).toEqual([
        1,
        [reason],
        [],
      ]);
    });
  }
});

describe('terms', () => {
  test('an earlier start, after a later one → refused, and told which term has been heard of', () => {
    const { door, told } = doorOf(IRL);
    const terms = [6, 6, 5, 7, 6];
    expect(terms.map((term) => door.open(envelopeOf(HEARTBEAT, { term })) !== undefined)).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    expect([door.refusals.term, told]).toEqual([2, []]);
    const answers = door.takeAnswers();
    expect(answers.map(({ to, message }) => [to.site, message])).toEqual([
      [FRK, { kind: 'term.passed', term: 6 }],
      [FRK, { kind: 'term.passed', term: 7 }],
    ]);
    expect(door.takeAnswers()).toEqual([]);
  });

  test('of each sender its own', () => {
    const { door } = doorOf(IRL);
    door.open(envelopeOf(HEARTBEAT, { term: 9 }));
    const other = envelopeOf(HEARTBEAT, { term: 1, from: { site: VRG, partition: 0 } });
    expect(door.open(other)).toBe(HEARTBEAT);
  });

  test('a start that has lost the number of the one before → goes on above it, once it is told', () => {
    const [before, again] = [epochOf(6, 0.5), epochOf(6, 0.25)];
    const receiver = doorOf(IRL).door;
    receiver.open(envelopeOf(HEARTBEAT, { term: before }));
    const sender = doorOf(FRK, again).door;
    expect(receiver.open(sender.seal(IRL, HEARTBEAT))).toBeUndefined();
    for (const answer of receiver.takeAnswers()) expect(sender.open(answer)).toBeUndefined();
    expect(sender.term).toBe(epochOf(7, 0.25));
    expect(receiver.open(sender.seal(IRL, HEARTBEAT))).toBe(HEARTBEAT);
  });

  test('told of a term that it is not below → stays where it is', () => {
    const { door } = doorOf(IRL, 9);
    door.open(envelopeOf({ kind: 'term.passed', term: 9 }));
    expect(door.term).toBe(9);
  });

  test('told of a term above which there is none that others take → refused; it stays where it is', () => {
    const { door, told } = doorOf(IRL);
    for (const term of [START_MAX, START_MAX - 1]) {
      expect(door.open(envelopeOf({ kind: 'term.passed', term }))).toBeUndefined();
    }
    expect(door.term).toBe(5);
    expect(told.map(({ reason }) => reason)).toEqual(['content', 'content']);
  });

  test('heard → told once, to be written down; recalled at the next start → nothing of an earlier one is taken', () => {
    const { door } = doorOf(IRL);
    for (const term of [6, 6, 7]) door.open(envelopeOf(HEARTBEAT, { term }));
    const heard = door.takeHeard();
    expect([heard, door.takeHeard()]).toEqual([
      [
        [FRK, 6],
        [FRK, 7],
      ],
      [],
    ]);
    const again = doorOf(IRL).door;
    again.recall(new Map([[FRK, 7]]));
    expect(again.open(envelopeOf(HEARTBEAT, { term: 6 }))).toBeUndefined();
    expect(again.open(envelopeOf(HEARTBEAT, { term: 7 }))).toBe(HEARTBEAT);
    expect(again.takeHeard()).toEqual([]);
  });
});
