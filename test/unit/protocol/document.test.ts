/**
 * docs/reference/wire-protocol.md matches the code: the rows, the states, the limits, the close
 * codes.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clientMessageKinds } from '../../../src/protocol/messages/client-messages.ts';
import { CloseCode, isFatalClose } from '../../../src/protocol/close-codes.ts';
import type { MessageKind } from '../../../src/protocol/messages/define-message.ts';
import { serverMessageKinds } from '../../../src/protocol/messages/server-messages.ts';
import { PROTOCOL_VERSION, SUBPROTOCOL } from '../../../src/protocol/codec/version.ts';
import { deriveLimits, fillLimits } from '../../../src/server/gateway/limits/limits.ts';
import {
  getTransition,
  type ConnectionEvent,
  type ConnectionState,
} from '../../../src/transport/options/connection-state.ts';

const text = readFileSync(
  new URL('../../../docs/reference/wire-protocol.md', import.meta.url),
  'utf8',
);

/** The cells of the tables below a heading. */
function cells(heading: string): string[][] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .slice(2, -1)
      .split(' |')
      .map((cell) => cell.trim()),
  );
}

function signature({ kind, fields, schema }: MessageKind<never>): string {
  const { items } = schema.def as unknown as { items: { def: { type: string } }[] };
  const [id, , ...rest] = fields.map((name, i) =>
    items[i]?.def.type === 'optional' ? `${name}?` : name,
  );
  return `\`[${[id, `"${kind}"`, ...rest].join(', ')}]\``;
}

test.each([
  ['Messages from the client', clientMessageKinds],
  ['Messages from the server', serverMessageKinds],
] as const)('%s → the rows of the schemas', (heading, kinds) => {
  const expected = kinds.map((kind) => signature(kind as MessageKind<never>));
  expect(cells(heading).map(([row]) => row)).toEqual(expected);
});

test('the client’s connection → the transitions of the state machine', () => {
  const states: ConnectionState[] = [
    'connecting',
    'handshaking',
    'open',
    'probing',
    'waiting',
    'closing',
    'closed',
  ];
  const events: ConnectionEvent[] = [
    'opened',
    'welcomed',
    'principal-changed',
    'received',
    'timeout',
    'goaway',
    'lost',
    'token-refused',
    'rejected',
    'wake',
    'close',
  ];
  const expected: string[][] = [];
  for (const state of states) {
    for (const event of events) {
      const { state: next, actions } = getTransition(state, event);
      if (next !== state || actions.length > 0)
        expected.push([state, event, next, actions.join(', ')]);
    }
  }
  expect(cells("The client's connection")).toEqual(expected);
});

test('close codes → those of the code, with what the client does', () => {
  const { done, ...others } = CloseCode;
  expect(isFatalClose(done)).toBe(false);
  const documented = cells('Close codes').map(([code, , then]) => [
    Number(code),
    then?.startsWith('gives up'),
  ]);
  expect(documented).toEqual(Object.values(others).map((code) => [code, isFatalClose(code)]));
});

test('limits → the defaults of the code', () => {
  const units: Readonly<Record<string, number>> = { MiB: 1 << 20, s: 1_000 };
  const limits: Readonly<Record<string, number>> = { ...fillLimits() };
  const rows = cells('Limits').filter(([name]) => name?.startsWith('`'));
  const documented = rows.map(([name = '']) => name.replaceAll('`', ''));
  expect(documented.toSorted()).toEqual(Object.keys(limits).toSorted());
  for (const [name = '', value = ''] of rows) {
    if (value.startsWith('none')) {
      expect(limits[name.replaceAll('`', '')]).toBe(Infinity);
      continue;
    }
    const [, number = '', unit = ''] = /^([\d ]+\d|\d)(?: (MiB|s)\b)?/.exec(value) ?? [];
    expect(`${name} ${Number(number.replaceAll(' ', '')) * (units[unit] ?? 1)}`).toBe(
      `${name} ${limits[name.replaceAll('`', '')]}`,
    );
  }
});

test('shares of the memory → those that follow from the default', () => {
  const { client, principal, total } = deriveLimits(fillLimits(), true).budget;
  const shares = cells('Limits').filter(
    ([name, , beyond]) => !name?.startsWith('`') && beyond?.includes('OVERLOADED'),
  );
  const documented = shares.map(([, value = '']) => Number(/(\d+) MiB/.exec(value)?.[1]) << 20);
  expect(documented).toEqual([client, principal, total]);
});

test('version and subprotocol → those of the code', () => {
  expect(text).toContain(`Version ${PROTOCOL_VERSION}.`);
  expect(cells('Connection').map(([name]) => name)).toEqual([
    `\`${SUBPROTOCOL}+msgpack\``,
    `\`${SUBPROTOCOL}+json\``,
  ]);
});
