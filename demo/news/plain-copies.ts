/**
 * A store without causal order, for comparison. Each site has a copy. Each write is sent to the
 * other copies separately, and is visible there as soon as it arrives. Asynchronous replication of
 * many stores works like this.
 */
import type { Binding } from 'correctables';
import { tiered } from 'correctables/bindings/tiered';
import { getRoundTripMs, SITES, type Delays, type Site } from './sites.ts';

export const COPY_LEVELS = ['copy'] as const;
export type CopyLevels = typeof COPY_LEVELS;

interface Write {
  readonly key: string;
  readonly value: unknown;
}

/** The arguments of `get`, `getMany` and `put`. */
export interface CopyArgs {
  readonly key: string;
  readonly keys: readonly string[];
  readonly value: unknown;
}

export class PlainCopies {
  readonly #delays: Delays;
  readonly #copies: ReadonlyMap<Site, Map<string, unknown>> = new Map(
    SITES.map((site) => [site, new Map()]),
  );
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The writes that wait until a cut line is repaired, by line. */
  readonly #held = new Map<string, Write[]>();

  constructor(delays: Delays) {
    this.#delays = delays;
  }

  site(site: Site): Binding<CopyLevels> {
    const copy = this.#copies.get(site) as Map<string, unknown>;
    return tiered(COPY_LEVELS, {
      copy: ({ name, args }) => {
        const { key, keys, value } = args as CopyArgs;
        if (name === 'getMany') return keys.map((item) => copy.get(item));
        if (name === 'get') return copy.get(key);
        copy.set(key, value);
        for (const other of SITES) if (other !== site) this.#send(site, other, { key, value });
        return undefined;
      },
    });
  }

  /** Holds back all writes between two sites, like a failed network. */
  cut(a: Site, b: Site): void {
    for (const line of [toLine(a, b), toLine(b, a)])
      if (!this.#held.has(line)) this.#held.set(line, []);
  }

  repair(a: Site, b: Site): void {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const writes = this.#held.get(toLine(from, to)) ?? [];
      this.#held.delete(toLine(from, to));
      for (const write of writes) this.#send(from, to, write);
    }
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #send(from: Site, to: Site, write: Write): void {
    const held = this.#held.get(toLine(from, to));
    if (held !== undefined) return void held.push(write);
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        // Each key has one writer, so the last one that arrives is the last one written.
        this.#copies.get(to)?.set(write.key, write.value);
      },
      getRoundTripMs(this.#delays, from, to) / 2,
    );
    this.#timers.add(timer);
  }
}

function toLine(from: Site, to: Site): string {
  return `${from}-${to}`;
}
