/**
 * A queue that is changed in the red order only. A `pop` takes the item that is first when it is
 * applied, so it never aborts.
 */
import type { Effect } from '../records/effect.ts';
import { measureValue, STATE_BYTES } from '../records/memory-bytes.ts';
import { freezeForUser, deepFreeze } from '../../../values/deep-freeze.ts';
import {
  createEffectBuilder,
  type ChangePeriod,
  type FieldKind,
  type FieldState,
  type StateParts,
} from './field.ts';
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

/** An item in its array, with its share of its part. */
const ITEM_BYTES = 16;

/** Items in order, beginning with the number `first`. */
interface QueuePart {
  readonly first: number;
  count: number;
  bytes: number;
  /** The period of the changes in which it was returned as changing last; 0 if never. */
  notedIn: number;
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
  #bytes = 8 * STATE_BYTES;
  /** The number of items once all parts are restored. */
  readonly #savedSize: number | undefined;

  constructor(saved?: SavedQueue) {
    this.#from = saved?.from ?? 0;
    this.#savedSize = saved?.size;
  }

  get size(): number {
    return this.#items.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  at(index: number): unknown {
    return this.#items.at(index);
  }

  all(): readonly unknown[] {
    return this.#items.slice();
  }

  push(item: unknown): void {
    const part = this.#openPart ?? this.#addPart();
    part.count += 1;
    part.bytes += measurePlainData(item);
    this.#add(item);
  }

  #add(item: unknown): void {
    this.#items.push(item);
    this.#bytes += ITEM_BYTES + measureValue(item);
  }

  shift(): unknown {
    const item = this.#items.shift();
    this.#bytes -= ITEM_BYTES + measureValue(item);
    this.#from += 1;
    if (this.#from === getEnd(this.#parts.first as QueuePart)) this.#parts.shift();
    return item;
  }

  clear(): void {
    while (this.#items.size > 0) this.shift();
  }

  saveHeader(): SavedQueue {
    return { from: this.#from, size: this.#items.size };
  }

  findChanging(action: string, { period, isSaving }: ChangePeriod): number | undefined {
    const isPush = action === 'push';
    const part = isPush ? this.#openPart : this.#parts.first;
    if (part === undefined) return isPush ? this.#from + this.#items.size : undefined;
    if (part.notedIn === period) return undefined;
    // A pop that leaves items in the part matters only if it has to be saved with all of them.
    if (!isPush && !isSaving && this.#from + 1 < getEnd(part)) return undefined;
    part.notedIn = period;
    return part.first;
  }

  getNumbers(): readonly number[] {
    return this.#parts.slice().map(({ first }) => first);
  }

  save(number: number): unknown {
    const part = this.#find(number);
    if (part === undefined) return undefined;
    const from = Math.max(part.first, this.#from);
    return [from, this.#items.slice(from - this.#from, getEnd(part) - this.#from)];
  }

  restore(number: number, saved: unknown): number | undefined {
    const [from, items] = saved as readonly [from: number, items: readonly unknown[]];
    const left = deepFreeze(items).slice(Math.max(0, this.#from - from));
    if (left.length === 0) return undefined;
    this.#parts.push({
      first: number,
      count: from - number + items.length,
      bytes: measurePlainData(items),
      notedIn: 0,
    });
    for (const item of left) this.#add(item);
    const isWhole = this.#items.size >= (this.#savedSize ?? 0);
    return isWhole ? undefined : from + items.length;
  }

  checkRestored(): void {
    if (this.#savedSize === undefined || this.#items.size === this.#savedSize) return;
    throw new Error(`a checkpoint has ${this.#items.size} items of a queue of ${this.#savedSize}`);
  }

  /** The part that takes the next item, unless that begins a new one. */
  get #openPart(): QueuePart | undefined {
    const { last } = this.#parts;
    const isOpen = last !== undefined && last.bytes < MAX_PART_BYTES && last.count < MAX_PART_ITEMS;
    return isOpen ? last : undefined;
  }

  #addPart(): QueuePart {
    const part = {
      first: this.#from + this.#items.size,
      count: 0,
      bytes: 0,
      notedIn: 0,
    };
    this.#parts.push(part);
    return part;
  }

  #find(number: number): QueuePart | undefined {
    const part = this.#parts.at(this.#parts.findIndex(({ first }) => first >= number));
    return part?.first === number ? part : undefined;
  }
}

/** Returns the number of the item behind the last one of the part. */
function getEnd({ first, count }: QueuePart): number {
  return first + count;
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
  get bytes(): number {
    return this.#items.bytes;
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
  shrinkingActions: ['pop'],
  state: (saved) => new QueueState(saved as SavedQueue | undefined),
  pending: () => new PendingQueue(),
};
