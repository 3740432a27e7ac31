/** Short histories of transactions, and the known anomalies that both checkers are tested on. */
import type { AnomalyName } from '../../../histories/transactions/anomaly.ts';
import type {
  Element,
  ListOperation,
  RecordedTransaction,
} from '../../../histories/transactions/recorded-transaction.ts';

export const append = (key: string, element: Element): ListOperation => ({
  append: [key, element],
});
export const read = (key: string, ...list: Element[]): ListOperation => ({ read: [key, list] });

/**
 * Creates a committed transaction that overlaps with all others, unless `changes` says otherwise.
 */
export function transaction(
  id: string,
  operations: readonly ListOperation[],
  changes: Partial<RecordedTransaction> = {},
): RecordedTransaction {
  return {
    id,
    process: id,
    startAt: 0,
    endAt: 1_000,
    outcome: 'committed',
    operations,
    ...changes,
  };
}

export interface KnownHistory {
  readonly about: string;
  readonly history: readonly RecordedTransaction[];
  /**
   * The anomalies of the history, each once; none if a strictly serializable store can have given
   * it.
   */
  readonly anomalies: readonly AnomalyName[];
  /** Their names by adya, which looks for others. */
  readonly byAdya: readonly string[];
}

const between = (startAt: number, endAt: number): Partial<RecordedTransaction> => ({
  startAt,
  endAt,
});
const UNKNOWN = { outcome: 'unknown' } as const;

export const CLEAN_HISTORIES: readonly KnownHistory[] = [
  {
    about: 'transactions one after the other',
    history: [
      transaction('a', [append('x', 1), read('x', 1)], between(0, 10)),
      transaction(
        'b',
        [read('x', 1), append('x', 2), append('y', 3), read('x', 1, 2)],
        between(20, 30),
      ),
      transaction('c', [read('x', 1, 2), read('y', 3)], between(40, 50)),
    ],
  },
  {
    about: 'overlapping transactions, of which the later one took effect first',
    history: [
      transaction('a', [append('x', 1)], between(0, 100)),
      transaction('b', [append('x', 2)], between(50, 60)),
      transaction('c', [read('x', 2, 1)], between(110, 120)),
    ],
  },
  {
    about: 'an aborted append that nobody sees',
    history: [
      transaction('a', [append('x', 1)], { outcome: 'aborted' }),
      transaction('b', [read('x'), append('x', 2)]),
      transaction('c', [read('x', 2)]),
    ],
  },
  {
    about: 'two unknown appends, one of which took effect late',
    history: [
      transaction('a', [append('x', 1)], { ...UNKNOWN, ...between(0, 10) }),
      transaction('b', [append('x', 2)], { ...UNKNOWN, ...between(0, 10) }),
      transaction('c', [read('x')], between(20, 30)),
      transaction('d', [read('x', 2)], between(40, 50)),
    ],
  },
  {
    about: 'a read of an old but single state, where that is all that was asked for',
    history: [
      transaction('a', [append('x', 1), append('y', 1)], between(0, 10)),
      transaction('b', [read('x'), read('y')], { ...between(20, 30), isSnapshot: true }),
      transaction('c', [read('x', 1), read('y', 1)], between(40, 50)),
    ],
  },
].map((known) => ({ ...known, anomalies: [], byAdya: [] }));

export const FAULTY_HISTORIES: readonly KnownHistory[] = [
  {
    about: 'writes in opposite orders',
    anomalies: ['G0'],
    byAdya: ['G0'],
    history: [
      transaction('a', [append('x', 1), append('y', 1)]),
      transaction('b', [append('x', 2), append('y', 2)]),
      transaction('c', [read('x', 1, 2)]),
      transaction('d', [read('y', 2, 1)]),
    ],
  },
  {
    about: 'aborted read',
    anomalies: ['G1a'],
    byAdya: ['G1a'],
    history: [
      transaction('a', [append('x', 1)], { outcome: 'aborted' }),
      transaction('b', [read('x', 1)]),
    ],
  },
  {
    about: 'intermediate read',
    anomalies: ['G1b'],
    byAdya: ['G-single-item', 'G1b'],
    history: [
      transaction('a', [append('x', 1), append('x', 2)]),
      transaction('b', [read('x', 1)]),
      transaction('c', [read('x', 1, 2)]),
    ],
  },
  {
    about: 'circular information flow',
    anomalies: ['G1c'],
    byAdya: ['G1c'],
    history: [
      transaction('a', [append('x', 1), read('y', 2)]),
      transaction('b', [append('y', 2), read('x', 1)]),
    ],
  },
  {
    about: 'read skew',
    anomalies: ['G-single'],
    byAdya: ['G-single-item'],
    history: [
      transaction('a', [append('x', 1), append('y', 1)]),
      transaction('b', [read('x', 1), read('y')]),
      transaction('c', [read('x', 1), read('y', 1)]),
    ],
  },
  {
    about: 'lost update',
    anomalies: ['G-single', 'lost append'],
    byAdya: ['G-single-item', 'lost-update'],
    history: [
      transaction('a', [read('x'), append('x', 1)], between(0, 100)),
      transaction('b', [read('x'), append('x', 2)], between(0, 100)),
      transaction('c', [read('x', 2)], between(200, 300)),
    ],
  },
  {
    about: 'write skew',
    anomalies: ['G2'],
    byAdya: ['G2-item'],
    history: [
      transaction('a', [read('x'), append('y', 1)]),
      transaction('b', [read('y'), append('x', 1)]),
      transaction('c', [read('x', 1), read('y', 1)]),
    ],
  },
  {
    about: 'write skew of three',
    anomalies: ['G2'],
    byAdya: ['G2-item'],
    history: [
      transaction('a', [read('x'), append('y', 1)]),
      transaction('b', [read('y'), append('z', 1)]),
      transaction('c', [read('z'), append('x', 1)]),
      transaction('d', [read('x', 1), read('y', 1), read('z', 1)]),
    ],
  },
  {
    about: 'stale read',
    anomalies: ['realtime'],
    byAdya: ['G-single-item-realtime'],
    history: [
      transaction('a', [append('x', 1)], between(0, 10)),
      transaction('b', [append('y', 1)], between(20, 30)),
      transaction('c', [read('x')], between(40, 50)),
      transaction('d', [read('x', 1)], between(60, 70)),
    ],
  },
  {
    about: 'a read of what was written later',
    anomalies: ['realtime'],
    byAdya: ['G1c-realtime'],
    history: [
      transaction('a', [read('x', 1)], between(0, 10)),
      transaction('b', [append('x', 1)], between(20, 30)),
    ],
  },
  {
    about: 'a stale read beside an unknown append that was seen',
    anomalies: ['realtime'],
    byAdya: ['G-single-item-realtime'],
    history: [
      transaction('a', [append('x', 1)], { ...UNKNOWN, ...between(0, 10) }),
      transaction('b', [read('x', 1)], between(20, 30)),
      transaction('c', [read('x')], between(40, 50)),
    ],
  },
  {
    about: 'a half of an unknown transaction',
    anomalies: ['G-single'],
    byAdya: ['G-single-item'],
    history: [
      transaction('a', [append('x', 1), append('y', 1)], UNKNOWN),
      transaction('b', [read('x', 1), read('y')], between(2_000, 2_010)),
    ],
  },
  {
    about: 'a mix of two states, where an old one was allowed',
    anomalies: ['G-single'],
    byAdya: ['G-single-item'],
    history: [
      transaction('a', [append('x', 1), append('y', 1)], between(0, 10)),
      transaction('b', [read('x', 1), read('y')], { isSnapshot: true }),
      transaction('c', [read('x', 1), read('y', 1)], between(40, 50)),
    ],
  },
  {
    about: 'lost append',
    anomalies: ['lost append', 'realtime'],
    byAdya: ['G-single-item-realtime'],
    history: [
      transaction('a', [append('x', 1)], between(0, 10)),
      transaction('b', [read('x')], between(20, 30)),
    ],
  },
  {
    about: 'an append that was applied twice',
    anomalies: ['duplicate element'],
    byAdya: ['duplicate-elements'],
    history: [transaction('a', [append('x', 1)], UNKNOWN), transaction('b', [read('x', 1, 1)])],
  },
  {
    about: 'two appends of one transaction in another order',
    anomalies: ['G1b', 'incompatible orders'],
    byAdya: ['G1b'],
    history: [
      transaction('a', [append('x', 1), append('x', 2)]),
      transaction('b', [read('x', 2, 1)]),
    ],
  },
  {
    about: 'incompatible orders',
    anomalies: ['incompatible orders'],
    byAdya: ['incompatible-order'],
    history: [
      transaction('a', [append('x', 1)]),
      transaction('b', [append('x', 2)]),
      transaction('c', [read('x', 1)]),
      transaction('d', [read('x', 2)]),
    ],
  },
  {
    about: 'a transaction that misses its own append',
    anomalies: ['internal'],
    byAdya: ['internal'],
    history: [transaction('a', [append('x', 1), read('x')])],
  },
  {
    about: 'two reads that differ',
    anomalies: ['internal'],
    byAdya: ['G-single-item', 'internal'],
    history: [transaction('a', [append('x', 1)]), transaction('b', [read('x'), read('x', 1)])],
  },
  {
    about: 'an append that is read before it was made',
    anomalies: ['internal'],
    byAdya: ['future-read'],
    history: [transaction('a', [read('x', 1), append('x', 1)])],
  },
  {
    about: 'an element from nowhere',
    anomalies: ['unwritten element'],
    byAdya: [],
    history: [transaction('a', [read('x', 7)])],
  },
];
