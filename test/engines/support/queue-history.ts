/** What happened to a queue, and whether a queue can behave like that. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../../../engines/folders.ts';

/** One operation. Times in milliseconds of one clock. */
export interface QueueEvent {
  readonly kind: 'enqueue' | 'dequeue';
  /** Who did it. */
  readonly by: string;
  /** The item; null for a dequeue that found none; undefined where the outcome is not known. */
  readonly item: string | null | undefined;
  readonly from: number;
  readonly to: number;
  readonly error?: string;
}

export interface Verdict {
  /** Items that were delivered more than once. */
  readonly twice: readonly string[];
  /** Items whose enqueue was acknowledged and that nobody got, beyond what failed dequeues may have taken. */
  readonly lost: readonly string[];
  /** Items that nobody ever put in. */
  readonly invented: readonly string[];
  /** Pairs of items of one producer that were delivered the wrong way round, one dequeue after the other. */
  readonly disordered: readonly string[];
  /** Dequeues that found nothing although an item was there all the time. */
  readonly falseEmpties: readonly string[];
  readonly delivered: number;
  /** Operations that ended without an outcome. */
  readonly unknown: number;
}

/** Judges a history that ends with the queue drained. */
export function judge(history: readonly QueueEvent[]): Verdict {
  const enqueues = new Map(
    history
      .filter(({ kind }) => kind === 'enqueue')
      .flatMap((event) => (event.item ? [[event.item, event] as const] : [])),
  );
  const dequeues = history.filter((event) => event.kind === 'dequeue');
  const deliveries = new Map<string, QueueEvent[]>();
  for (const event of dequeues) {
    if (typeof event.item !== 'string') continue;
    deliveries.set(event.item, [...(deliveries.get(event.item) ?? []), event]);
  }
  const unknownTakes = dequeues.filter(({ item }) => item === undefined).length;
  const missing = [...enqueues].filter(([item, { error }]) => error === undefined && !deliveries.has(item));
  return {
    twice: [...deliveries].filter(([, events]) => events.length > 1).map(([item]) => item),
    lost: missing.length > unknownTakes ? missing.map(([item]) => item) : [],
    invented: [...deliveries.keys()].filter((item) => !enqueues.has(item)),
    disordered: disordered(enqueues, deliveries),
    falseEmpties: falseEmpties(history, enqueues, deliveries),
    delivered: deliveries.size,
    unknown: history.filter(({ item, error }) => item === undefined || error !== undefined).length,
  };
}

type Enqueues = ReadonlyMap<string, QueueEvent>;
type Deliveries = ReadonlyMap<string, readonly QueueEvent[]>;

/** First in, first out: of two enqueues one after the other, the first is not taken after the second was. */
function disordered(enqueues: Enqueues, deliveries: Deliveries): string[] {
  const found: string[] = [];
  const items = [...deliveries].flatMap(([item, [taken]]) => {
    const put = enqueues.get(item);
    return put === undefined || taken === undefined || put.error !== undefined ? [] : [{ item, put, taken }];
  });
  for (const first of items) {
    for (const second of items) {
      if (first.put.to < second.put.from && second.taken.to < first.taken.from)
        found.push(`${second.item} < ${first.item}`);
    }
  }
  return found;
}

function falseEmpties(history: readonly QueueEvent[], enqueues: Enqueues, deliveries: Deliveries): string[] {
  const found: string[] = [];
  for (const empty of history) {
    if (empty.kind !== 'dequeue' || empty.item !== null) continue;
    for (const [item, put] of enqueues) {
      const taken = deliveries.get(item)?.[0];
      const wasThere = put.error === undefined && put.to < empty.from && taken !== undefined && taken.from > empty.to;
      if (wasThere) found.push(`${empty.by} at ${empty.to}: ${item}`);
    }
  }
  return found;
}

/** How many of these times fell into the work: items had been delivered before, and others were after. */
export function timesInWork(history: readonly QueueEvent[], times: readonly number[]): number {
  const delivered = history.filter(({ kind, item }) => kind === 'dequeue' && typeof item === 'string');
  const isIn = (at: number): boolean => delivered.some(({ to }) => to < at) && delivered.some(({ from }) => from > at);
  return times.filter(isIn).length;
}

/** A verdict without fault, but for the counts. */
export const FAULTLESS = { twice: [], lost: [], invented: [], disordered: [], falseEmpties: [] } as const;

/** Writes a history down for people to look at. */
export function dump(name: string, history: readonly QueueEvent[]): void {
  const folder = join(runFolder('zookeeper'), 'histories');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.jsonl`), `${history.map((event) => JSON.stringify(event)).join('\n')}\n`);
}
