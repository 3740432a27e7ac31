/** Which clients are forgotten to make room. */
import { expect, test } from 'vitest';
import {
  measureRecord,
  RetainedClients,
  type ClientRecord,
} from '../../../../../src/server/gateway/clients/client-table.ts';

const clients = [10, 20, 30].map(
  (bytes) => ({ bytes, key: `client ${bytes}`, isGone: true }) as ClientRecord,
);
const [first, second, third] = clients as [ClientRecord, ClientRecord, ClientRecord];
const freed = (...records: readonly ClientRecord[]): number =>
  records.reduce((sum, record) => sum + record.bytes + measureRecord(record), 0);

function kept(): RetainedClients {
  const all = new RetainedClients();
  for (const client of clients) all.onDisconnected(client);
  return all;
}

test.each<[string, number, readonly ClientRecord[]]>([
  ['what the first keeps → that one', freed(first), [first]],
  ['one more → the next one, too', freed(first) + 1, [first, second]],
  ['all that is kept → all', freed(...clients), clients],
  ['more than that → none, since it is not enough', freed(...clients) + 1, []],
])('to free %s', (_, bytes, chosen) => {
  expect(kept().findEvictions(bytes, {} as ClientRecord)).toEqual(chosen);
});

test('the client that needs the room → the others, or none if they are not enough', () => {
  expect(kept().findEvictions(freed(first, third), second)).toEqual([first, third]);
  expect(kept().findEvictions(freed(first, third) + 1, second)).toEqual([]);
});
