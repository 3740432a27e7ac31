/** Who is forgotten where there is no room for what clients leave behind. */
import { describe, expect, test } from 'vitest';
import type { ClientRecord } from '../../../../../src/server/gateway/clients/client-record.ts';
import { costOf } from '../../../../../src/server/gateway/clients/client-record.ts';
import { toFree } from '../../../../../src/server/gateway/clients/gone-clients.ts';

const clients = [10, 20, 30].map((bytes) => ({ bytes, key: `client ${bytes}` }) as ClientRecord);
const [first, second, third] = clients as [ClientRecord, ClientRecord, ClientRecord];
const freed = (...records: readonly ClientRecord[]): number =>
  records.reduce((sum, record) => sum + record.bytes + costOf(record), 0);

describe('to free so many bytes', () => {
  test.each<[string, number, readonly ClientRecord[]]>([
    ['none → nobody', 0, []],
    ['what the first keeps → that one', freed(first), [first]],
    ['one more → the next one, too', freed(first) + 1, [first, second]],
    ['all that is kept → all', freed(...clients), clients],
    ['more than that → nobody: it would not do', freed(...clients) + 1, []],
  ])('%s', (_, bytes, chosen) => {
    expect(toFree([[first], [second, third]], bytes, {} as ClientRecord)).toEqual(chosen);
  });

  test('that one is to be kept → the others, or nobody where they would not do', () => {
    expect(toFree([clients], freed(first, third), second)).toEqual([first, third]);
    expect(toFree([clients], freed(first, third) + 1, second)).toEqual([]);
  });
});
