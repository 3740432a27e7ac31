/**
 * Envelopes as bytes: each kind of message comes back as it was, large ones in parts, and what is
 * no envelope is refused.
 */
// @rule BS-E6, BS-E7, BS-E11, CLU-I1
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EnvelopeCodec,
  MAX_ENVELOPE_BYTES,
  MAX_ENVELOPE_VALUES,
  ENVELOPE_VERSION,
} from '../../../../../src/server/site/wire/envelope-codec.ts';
import { RejectedMessageError } from '../../../../../src/server/site/wire/envelope.ts';
import { RULES_VERSION } from '../../../../../src/server/service/records/deployment-version.ts';
import type {
  Envelope,
  MessageRejectionReason,
} from '../../../../../src/server/site/wire/envelope.ts';
import { mixEntry, mixOperation } from '../../../../../src/server/log/prefix-digest.ts';
import { SEQUENCED_MESSAGE_FORMAT } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import type { SequencedMessage } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import { BLUE, envelopeOf, MESSAGES, ORIGINS, RED } from './sample-messages.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';
import { scaleRuns } from '../../../../support/lane.ts';

const codec = new EnvelopeCodec(SEQUENCED_MESSAGE_FORMAT);
const encoded = (envelope: Envelope, bytes?: number): Uint8Array[] => codec.encode(envelope, bytes);
const decoded = (bytes: Uint8Array): Envelope => codec.decode(bytes, ORIGINS, 'shop#1');
const refused = (reason: MessageRejectionReason): unknown =>
  expect.objectContaining({ name: 'RejectedMessageError', reason });

describe('envelopes', () => {
  for (const message of MESSAGES) {
    test(`${message.kind} → comes back as it was`, () => {
      const [bytes = new Uint8Array(0), ...others] = encoded(envelopeOf(message));
      expect([decoded(bytes), others]).toEqual([envelopeOf(message), []]);
    });
  }

  test('with the clock of its sender → it comes back too', () => {
    const envelope = envelopeOf({ kind: 'blue.heartbeat', sequence: 1 }, { sentAtMs: 1234.5 });
    expect(encoded(envelope).map(decoded)).toEqual([envelope]);
  });

  test('a reply without a value → has one, which is undefined', () => {
    const operation = { ...BLUE, reply: { value: undefined } };
    const [bytes] = encoded(envelopeOf({ kind: 'blue.operations', operations: [operation] }));
    const { message } = decoded(bytes as Uint8Array);
    expect(message.kind === 'blue.operations' && message.operations[0]?.reply).toStrictEqual({
      value: undefined,
    });
  });

  test('in the first version that has the message → these bytes, whatever becomes of the wire and of disks', () => {
    const bytesOf = (message: Envelope['message']): Uint8Array => {
      const version = message.kind.startsWith('rows.') ? 5 : 4;
      return codec.encode(envelopeOf(message), undefined, version)[0] as Uint8Array;
    };
    const sumOf = (bytes: Uint8Array): string =>
      createHash('sha256').update(bytes).digest('hex').slice(0, 12);
    expect(MESSAGES.map((message) => `${message.kind} ${sumOf(bytesOf(message))}`)).toEqual([
      'blue.operations fb4a069db1fa',
      'blue.received b382ee1e75c1',
      'blue.heartbeat 6fba927ddc7b',
      'blue.have cb1cda7a61bb',
      'blue.resend 4af84a0c09f7',
      'slot.request d7691da58041',
      'slot.answered 83daa55e71ef',
      'slot.answered c4ccceb2eb16',
      'slot.answered f35c7d480124',
      'slot.answered 9e58a72d30c3',
      'rights.request 475d5322e1e7',
      'rows.request e36715f38d80',
      'rows.digest e339e01cfb1c',
      'rows.digest 91e12f901beb',
      'log.propose 40d5991967b6',
      'log.propose 20edc92e592b',
      'log.append 16cf61647c1a',
      'log.appended 700eb76103c6',
      'term.superseded 4f8dcb5b96ae',
      'blue.gone 1d49aa461ea5',
      'log.gone bc29b0c4d79f',
      'log.append b157cc55cdeb',
      'log.appended b60daa1c9f27',
      'log.check 3e4c731aefbd',
      'log.checked a778149463db',
      'member.closed f1b6f896a88c',
      'member.closed 28f1d2f90e19',
      'log.propose 7e749a82373f',
      'log.propose 2a1641790d6c',
      'log.propose 32dc87fa4306',
      'log.propose b7467c203789',
      'log.propose 89ea51415989',
      'node.hello 97b0abc11072',
      'node.fork a1fde10a9471',
      'node.known 29cb127cfb18',
      'node.twin c1569452297c',
    ]);
    expect(
      Buffer.from(bytesOf({ kind: 'blue.have', synced: [0, 1, 2, 3], isRequest: true })).toString(
        'hex',
      ),
    ).toBe(
      '0499a673686f702331010200010005c083a46b696e64a9626c75652e68617665a673796e6365649400010203a9697352657175657374c3',
    );
  });

  test('a receiver of the version before → gets all messages but those about rows', () => {
    for (const message of MESSAGES) {
      const parts = codec.encode(envelopeOf(message), undefined, 4);
      expect(parts.map(decoded)).toEqual(
        message.kind.startsWith('rows.') ? [] : [envelopeOf(message)],
      );
    }
  });

  test('the version stands first', () => {
    for (const message of MESSAGES)
      expect(encoded(envelopeOf(message))[0]?.[0]).toBe(ENVELOPE_VERSION);
  });
});

describe('large messages', () => {
  const operations = Array.from({ length: 100 }, (_, index) => ({ ...BLUE, sequence: index + 1 }));
  const entries = operations.map(({ site, sequence }) => ({
    origin: site,
    epoch: 1,
    sequence,
    record: RED,
  }));

  test('operations of a stream → several envelopes, in order', () => {
    const parts = encoded(envelopeOf({ kind: 'blue.operations', operations }), 1000);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(1000);
    const sent = parts.flatMap((bytes) => {
      const { message } = decoded(bytes);
      return message.kind === 'blue.operations' ? message.operations : [];
    });
    expect(sent).toEqual(operations);
  });

  test('entries of the red log → several, each with the place of its first', () => {
    const parts = encoded(
      envelopeOf({ kind: 'log.append', position: 40, entries, committed: 60 }),
      3000,
    );
    expect(parts.length).toBeGreaterThan(1);
    const sent = parts.flatMap((bytes) => {
      const message = decoded(bytes).message as SequencedMessage<unknown>;
      if (message.kind !== 'log.append') return [];
      return message.entries.map((entry, index) => [
        message.position + index,
        entry.sequence,
        message.committed,
      ]);
    });
    expect(sent).toEqual(entries.map(({ sequence }) => [39 + sequence, sequence, 60]));
  });

  test('parts of a stream and of the red log → each with the digest of what stands before it', () => {
    const blue = encoded(envelopeOf({ kind: 'blue.operations', operations, digest: 7 }), 1000);
    const digestsOf = (parts: Uint8Array[]): unknown[] =>
      parts.map((bytes) => (decoded(bytes).message as { digest?: number }).digest);
    const before = (count: number): number =>
      operations.slice(0, count).reduce((sum, item) => mixOperation(sum, item), 7);
    const counts = blue.map(
      (bytes) => (decoded(bytes).message as unknown as { operations: unknown[] }).operations.length,
    );
    const starts = counts.map((_, part) =>
      counts.slice(0, part).reduce((sum, count) => sum + count, 0),
    );
    expect(digestsOf(blue)).toEqual(starts.map(before));
    const red = encoded(
      envelopeOf({ kind: 'log.append', position: 40, entries, committed: 60, digest: 7 }),
      3000,
    );
    const places = red.map(
      (bytes) => (decoded(bytes).message as unknown as { position: number }).position - 40,
    );
    const redBefore = (count: number): number =>
      entries.slice(0, count).reduce((sum, item) => mixEntry(sum, item), 7);
    expect(digestsOf(red)).toEqual(places.map(redBefore));
  });

  test('one operation that is larger than that → one envelope; larger than any may be → not sent', () => {
    const large = (bytes: number): Envelope =>
      envelopeOf({
        kind: 'blue.operations',
        operations: [{ ...BLUE, reply: { value: new Uint8Array(bytes) } }],
      });
    expect(encoded(large(5000), 1000)).toHaveLength(1);
    expect(() => encoded(large(MAX_ENVELOPE_BYTES))).toThrow(refused('unreadable'));
  });
});

describe('what is no envelope', () => {
  const [good = new Uint8Array(0)] = encoded(envelopeOf({ kind: 'blue.received', sequence: 1 }));

  test('written in another version → refused', () => {
    const bytes = good.slice();
    bytes[0] = ENVELOPE_VERSION + 1;
    expect(() => decoded(bytes)).toThrow(refused('version'));
    expect(() => decoded(new Uint8Array(0))).toThrow(refused('version'));
  });

  test('of others, whose messages have other shapes → refused for that, and not for what is in it', () => {
    const message = { kind: 'red.votes', yes: true } as unknown as Envelope['message'];
    for (const [value, reason] of [
      [{ deployment: 'shop#2' }, 'deployment'],
      [{ rules: RULES_VERSION + 1 }, 'rules'],
      [{}, 'content'],
    ] as const) {
      const [bytes = new Uint8Array(0)] = encoded(envelopeOf(message, value));
      expect(() => decoded(bytes)).toThrow(refused(reason));
    }
  });

  test('something behind it → refused', () => {
    expect(() => decoded(Uint8Array.of(...good, 0))).toThrow(refused('unreadable'));
  });

  test('larger than any may be → refused before it is looked at', () => {
    expect(() => decoded(new Uint8Array(MAX_ENVELOPE_BYTES + 1))).toThrow(refused('unreadable'));
  });

  test('more values than any envelope has, a byte each → refused before anything is made of them', () => {
    const reply = { value: Array.from({ length: MAX_ENVELOPE_VALUES }, () => []) };
    const [sent] = encoded(
      envelopeOf({ kind: 'blue.operations', operations: [{ ...BLUE, reply }] }),
    );
    expect(() => decoded(sent as Uint8Array)).toThrow(refused('unreadable'));
  });

  test('a place, rules or a term that is no count → refused', () => {
    const heartbeat = { kind: 'blue.heartbeat', sequence: 1 } as const;
    for (const wrong of [-1, 0.5]) {
      const address = { site: wrong as Origin, partition: 0 };
      const partition = { site: BLUE.site, partition: wrong };
      for (const value of [
        { rules: wrong },
        { term: wrong },
        { from: address },
        { from: partition },
        { to: address },
        { to: partition },
      ]) {
        const [bytes = new Uint8Array(0)] = encoded(envelopeOf(heartbeat, value));
        expect(() => decoded(bytes)).toThrow(refused('unreadable'));
      }
    }
  });

  test('a start number above the highest possible one → rejected', () => {
    const entry = { origin: BLUE.site, epoch: 2 ** 53 - 1, sequence: 1, record: RED };
    for (const message of [
      { kind: 'term.superseded', term: 2 ** 53 - 1 },
      { kind: 'log.propose', epoch: 2 ** 53 - 1, sequence: 1, record: RED },
      { kind: 'log.append', position: 0, entries: [entry], committed: 0 },
    ] as const) {
      const [bytes = new Uint8Array(0)] = encoded(envelopeOf(message));
      expect(() => decoded(bytes)).toThrow(refused('content'));
    }
    const heartbeat = { kind: 'blue.heartbeat', sequence: 1 } as const;
    const [bytes = new Uint8Array(0)] = encoded(envelopeOf(heartbeat, { term: 2 ** 53 - 1 }));
    expect(() => decoded(bytes)).toThrow(refused('unreadable'));
  });

  test('cut off, or with any bytes changed → refused, or an envelope', () => {
    const all = MESSAGES.flatMap((message) => encoded(envelopeOf(message)));
    const cut = fc.record({
      bytes: fc.constantFrom(...all),
      at: fc.nat(),
      to: fc.nat(255),
      isCut: fc.boolean(),
    });
    fc.assert(
      fc.property(cut, ({ bytes, at, to, isCut }) => {
        const place = 1 + (at % (bytes.length - 1));
        const changed = isCut ? bytes.slice(0, place) : bytes.with(place, to);
        try {
          decoded(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(RejectedMessageError);
        }
      }),
      { numRuns: scaleRuns(2000) },
    );
  });
});
