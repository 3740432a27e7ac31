/** The messages' schemas may only change together with the version of the protocol. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { clientMessageKinds } from '../../../../src/protocol/messages/client-messages.ts';
import { serverMessageKinds } from '../../../../src/protocol/messages/server-messages.ts';
import { PROTOCOL_VERSION } from '../../../../src/protocol/codec/version.ts';

/**
 * One line a version, for ever. A new hash needs a new version: an old peer would misread the new
 * rows.
 */
const HISTORY: Readonly<Record<number, string>> = {
  1: 'b5863acfb322619c',
  2: '8efa39f63e0b8169',
  3: 'c3ef6a697c7eb047',
  4: 'ec14d869e2e069bd',
  5: 'f1e11c1be041dd0c',
  6: 'ef6f6c2e3937decd',
};

function wireHash(): string {
  const kinds = [...clientMessageKinds, ...serverMessageKinds].map(({ kind, fields, schema }) => ({
    kind,
    fields,
    schema: z.toJSONSchema(schema, { io: 'input' }),
  }));
  return createHash('sha256').update(JSON.stringify(kinds)).digest('hex').slice(0, 16);
}

test('wire: schemas changed → PROTOCOL_VERSION must be raised, and its hash added to the history', () => {
  expect(HISTORY[PROTOCOL_VERSION]).toBe(wireHash());
});

test('wire: version → the newest of the history', () => {
  expect(Math.max(...Object.keys(HISTORY).map(Number))).toBe(PROTOCOL_VERSION);
});
