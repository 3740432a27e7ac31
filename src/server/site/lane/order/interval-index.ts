/**
 * Finds the holds whose scanned interval may have a value, without a look at all intervals: a treap
 * by their starts, in which each node knows the last end below it. Its priorities follow from the
 * order in which intervals came, since a site has no randomness.
 */
import {
  compareScalars,
  type ReadRange,
  type Scalar,
} from '../../../service/records/read-range.ts';
import type { IndexedHold } from './footprint.ts';

/** `undefined`: the interval has no end. */
type End = Scalar | undefined;

interface Node {
  readonly start: Scalar | undefined;
  readonly end: End;
  readonly hold: IndexedHold;
  readonly priority: number;
  lastEnd: End;
  left: Node | undefined;
  right: Node | undefined;
}

export class IntervalIndex {
  #root: Node | undefined;
  #added = 0;

  get isEmpty(): boolean {
    return this.#root === undefined;
  }

  add(range: ReadRange, hold: IndexedHold): void {
    const end = getEnd(range);
    this.#added += 1;
    const node: Node = {
      start: range.from,
      end,
      hold,
      priority: scramble(this.#added),
      lastEnd: end,
      left: undefined,
      right: undefined,
    };
    const [left, right] = split(this.#root, node);
    this.#root = merge(merge(left, node), right);
  }

  /** Removes one interval of the hold with this start. */
  delete(range: ReadRange, hold: IndexedHold): void {
    this.#root = remove(this.#root, { start: range.from, hold });
  }

  /** Returns the holds whose interval has the value, and maybe others. */
  find(value: Scalar): IndexedHold[] {
    const found: IndexedHold[] = [];
    collect(this.#root, value, found);
    return found;
  }
}

type Place = Pick<Node, 'start' | 'hold'>;

function collect(node: Node | undefined, value: Scalar, found: IndexedHold[]): void {
  if (node === undefined || isBefore(node.lastEnd, value)) return;
  collect(node.left, value, found);
  if (node.start !== undefined && compareScalars(node.start, value) > 0) return;
  if (!isBefore(node.end, value)) found.push(node.hold);
  collect(node.right, value, found);
}

/** Returns the nodes before a place, and the others. */
function split(
  node: Node | undefined,
  place: Place,
): readonly [Node | undefined, Node | undefined] {
  if (node === undefined) return [undefined, undefined];
  if (comparePlaces(node, place) < 0) {
    const [left, right] = split(node.right, place);
    node.right = left;
    return [update(node), right];
  }
  const [left, right] = split(node.left, place);
  node.left = right;
  return [left, update(node)];
}

/** All nodes of `left` are before those of `right`. */
function merge(left: Node | undefined, right: Node | undefined): Node | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  if (left.priority > right.priority) {
    left.right = merge(left.right, right);
    return update(left);
  }
  right.left = merge(left, right.left);
  return update(right);
}

function remove(node: Node | undefined, place: Place): Node | undefined {
  if (node === undefined) return undefined;
  const order = comparePlaces(node, place);
  if (order === 0) return merge(node.left, node.right);
  if (order < 0) node.right = remove(node.right, place);
  else node.left = remove(node.left, place);
  return update(node);
}

function update(node: Node): Node {
  let last = node.end;
  for (const below of [node.left, node.right])
    if (below !== undefined && isLater(below.lastEnd, last)) last = below.lastEnd;
  node.lastEnd = last;
  return node;
}

function comparePlaces(a: Place, b: Place): number {
  return compareStarts(a.start, b.start) || a.hold.order - b.hold.order;
}

function compareStarts(a: Scalar | undefined, b: Scalar | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return compareScalars(a, b);
}

function isLater(end: End, other: End): boolean {
  if (other === undefined) return false;
  return end === undefined || compareScalars(end, other) > 0;
}

function isBefore(end: End, value: Scalar): boolean {
  return end !== undefined && compareScalars(end, value) < 0;
}

/** Returns the last value that may be inside. */
function getEnd({ before, upTo }: ReadRange): End {
  if (before === undefined || upTo === undefined) return upTo ?? before;
  return compareScalars(before, upTo) < 0 ? before : upTo;
}

/** Returns a number that looks random, and follows from `value`. */
function scramble(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 16), 0x45d9_f3b);
  return Math.imul(mixed ^ (mixed >>> 16), 0x45d9_f3b) >>> 0;
}
