/**
 * A queue that is changed in the red order only. A `pop` takes the item that is first when it is
 * applied, so it never aborts.
 */
import type { Effect } from '../records/effect.ts';
import { freezeForUser, deepFreeze } from '../../../values/deep-freeze.ts';
import { createEffectBuilder, type FieldKind, type FieldState, type StateParts } from './field.ts';
import { PendingQueue, type PopResult, type PushResult, type QueueView } from './pending-queue.ts';
import { Fifo } from '../collections/fifo.ts';
import { measurePlainData } from '../../../values/estimate-bytes.ts';
import { createPlainField, type Field } from './field-declaration.ts';

/**
 * Declares a first-in first-out queue that only red shadow operations change. Reads as a
 * `QueueView`.
 *
 * @example
 * red(
 *   (a: { queue: string }) => [queues.row(a.queue).items.pop()],
 *   ([popped]) => (popped.found ? popped.item : null),
 * )
 */
export function queue<T>(): Field<
  QueueView<T>,
  {
    push(item: T): Effect<PushResult, 'red'>;
    pop(): Effect<PopResult<T>, 'red'>;
  }
>;
export function queue(...options: readonly unknown[]): Field {
  return createPlainField('queue', options);
}

/** A part with this many bytes or items takes no more. */
const MAX_PART_BYTES = 1 << 16;
const MAX_PART_ITEMS = 256;

/** Items in order, beginning with the number `first`. */
interface QueuePart {
  readonly first: number;
  count: number;
  bytes: number;
  /** Whether it is among the changed parts, or was never saved. */
  isNoted: boolean;
}

/** What is saved beside the parts: the number of the first item, and the number of items. */
export interface SavedQueue {
  readonly from: number;
  readonly size: number;
}

/**
 * The items of a queue, numbered as they came. They are saved in parts, so that a push or a pop
 * rewrites little of a long queue. A `pop` changes no part: the number of the first item is saved
 * beside the parts.
 */
export class QueueItems implements StateParts {
  readonly #items = new Fifo<unknown>();
  readonly #parts = new Fifo<QueuePart>();
  #from = 0;
  /** The number of items once all parts are restored. */
  readonly #savedSize: number | undefined;
  #changed: number[] = [];

  constructor(saved?: SavedQueue) {
    this.#from = saved?.from ?? 0;
    this.#savedSize = saved?.size;
  }

  get size(): number {
    return this.#items.size;
  }

  at(index: number): unknown {
    return this.#items.at(index);
  }

  all(): readonly unknown[] {
    return this.#items.slice();
  }

  push(item: unknown): void {
    const part = this.#openPart();
    part.count += 1;
    part.bytes += measurePlainData(item);
    if (!part.isNoted) this.#changed.push(part.first);
    part.isNoted = true;
    this.#items.push(item);
  }

  shift(): unknown {
    const item = this.#items.shift();
    this.#from += 1;
    const first = this.#parts.at(0) as QueuePart;
    if (this.#from < first.first + first.count) return item;
    this.#changed.push(first.first);
    this.#parts.shift();
    return item;
  }

  clear(): void {
    while (this.#items.size > 0) this.shift();
  }

  saveHeader(): SavedQueue {
    return { from: this.#from, size: this.#items.size };
  }

  takeChanged(): readonly number[] {
    const changed = this.#changed;
    if (changed.length > 0) this.#changed = [];
    return changed;
  }

  getNumbers(): readonly number[] {
    return this.#parts.slice().map(({ first }) => first);
  }

  save(number: number): unknown {
    const part = this.#find(number);
    if (part === undefined) return undefined;
    part.isNoted = false;
    const from = Math.max(part.first, this.#from);
    return [from, this.#items.slice(from - this.#from, part.first + part.count - this.#from)];
  }

  restore(number: number, saved: unknown): void {
    const [from, items] = saved as readonly [from: number, items: readonly unknown[]];
    const left = deepFreeze(items).slice(Math.max(0, this.#from - from));
    if (left.length === 0) return;
    this.#parts.push({
      first: number,
      count: from - number + items.length,
      bytes: measurePlainData(items),
      isNoted: false,
    });
    for (const item of left) this.#items.push(item);
  }

  checkRestored(): void {
    if (this.#savedSize === undefined || this.#items.size === this.#savedSize) return;
    throw new Error(`a checkpoint has ${this.#items.size} items of a queue of ${this.#savedSize}`);
  }

  /** Returns the part that takes the next item. */
  #openPart(): QueuePart {
    const last = this.#parts.at(this.#parts.size - 1);
    if (last !== undefined && last.bytes < MAX_PART_BYTES && last.count < MAX_PART_ITEMS)
      return last;
    const part = {
      first: this.#from + this.#items.size,
      count: 0,
      bytes: 0,
      isNoted: false,
    };
    this.#parts.push(part);
    return part;
  }

  #find(number: number): QueuePart | undefined {
    const part = this.#parts.at(this.#parts.findIndex(({ first }) => first >= number));
    return part?.first === number ? part : undefined;
  }
}

class QueueState implements FieldState {
  readonly #items: QueueItems;
  /** The view that is read. The items themselves could be changed by their reader. */
  readonly #view: QueueView;
  constructor(saved?: SavedQueue) {
    const items = new QueueItems(saved);
    this.#items = items;
    this.#view = Object.freeze({
      get size(): number {
        return items.size;
      },
      at: (index: number): unknown => freezeForUser(items.at(index)),
    });
  }
  get parts(): StateParts {
    return this.#items;
  }
  read(): QueueView {
    return this.#view;
  }
  apply(effect: Effect): PopResult | PushResult {
    const items = this.#items;
    if (effect.action === 'push') {
      items.push(effect.value);
      return { size: items.size };
    }
    if (items.size === 0) return { found: false, remaining: 0 };
    return {
      found: true,
      item: freezeForUser(items.shift()),
      remaining: items.size,
    };
  }
  clear(): void {
    this.#items.clear();
  }
  get isInitial(): boolean {
    return this.#items.size === 0;
  }
  snapshot(): unknown {
    return this.#items.all();
  }
  save(): SavedQueue {
    return this.#items.saveHeader();
  }
}

export const queueKind: FieldKind = {
  name: 'queue',
  builder: 'queue',
  isRedOnly: true,
  hasParts: true,
  effects: {
    push: createEffectBuilder('push'),
    pop: ({ table, field }, key) => ({ table, key, field, action: 'pop' }),
  },
  state: (saved) => new QueueState(saved as SavedQueue | undefined),
  pending: () => new PendingQueue(),
};
