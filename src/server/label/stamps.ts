/**
 * Stamps of the operations of two sites, as replicas give them: above all that an operation has seen, and otherwise by the
 * clock of its site, which knows nothing of the order in which anybody applies it.
 */
import type { Stamp } from '../records/effect.ts';
import { Origins, RED, type Origin } from '../records/origin.ts';

const { sites, size } = Origins.of(['here', 'there']);

/** The first site, and the second. */
export const [HERE, THERE] = sites as readonly [Origin, Origin];

/** Between the times of two operations, so that others fit in between. */
const STRIDE = 10;

/** Who stamps the operations that one site sees, one after the other. */
export class Stamps {
  readonly #seen: number[];
  #time: number;

  constructor(from?: Stamps) {
    this.#seen = from === undefined ? Array.from({ length: size }, () => 0) : [...from.#seen];
    this.#time = from === undefined ? 0 : from.#time;
  }

  /** The next operation, of this site, red or not. */
  next(site: Origin, isRed: boolean): Stamp {
    this.#time += STRIDE;
    return this.#at(site, isRed ? RED : site, this.#time);
  }

  /** A blue operation of the first site whose time has this place among those that follow at the second (`Meeting.place`). */
  apart(place: number): Stamp {
    return this.#at(HERE, HERE, this.#time + (STRIDE / 2) * (place + 1));
  }

  #at(site: Origin, entry: Origin, time: number): Stamp {
    const stamp = { time, site, entry, version: time, seen: [...this.#seen] };
    this.#seen[entry] = time;
    return stamp;
  }
}
