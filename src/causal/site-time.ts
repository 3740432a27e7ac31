/**
 * The time of one site: the median of the clocks of its partitions and of the gateway (CAUSAL-8).
 *
 * A single wrong clock must not determine the time. An earlier version used the highest stamp. Then
 * one server whose clock was an hour ahead made all reads of its site fail, even after the clock
 * was right again. So stamps have no effect on this time.
 */
import type { Stamp } from './stamps.ts';

/** The clocks of the gateway. */
export interface GatewayTime {
  /** Microseconds that have passed. Never goes back, and is never set. */
  readonly elapsed: Stamp;
  /** Microseconds since the epoch, by the clock of the machine. */
  readonly wall: Stamp;
}

interface ClockReading {
  /** How far the clock is ahead of `elapsed`. */
  readonly offset: Stamp;
  /** Half the round trip time: the clock may have been read at any time in it. */
  readonly error: Stamp;
}

export class SiteTime {
  readonly #maxClockSkew: Stamp;
  readonly #readings: (ClockReading | undefined)[];
  #median: Stamp | undefined;

  constructor(partitionCount: number, maxClockSkew: Stamp) {
    this.#maxClockSkew = maxClockSkew;
    this.#readings = Array.from({ length: partitionCount }, () => undefined);
  }

  /** Takes the clock of a partition from a reply, unless a better reading is known. */
  observeClock(
    partition: number,
    clock: Stamp,
    { sentAt, received }: { readonly sentAt: Stamp; readonly received: GatewayTime },
  ): void {
    const middle = (sentAt + received.elapsed) / 2;
    const error = (received.elapsed - sentAt) / 2;
    const previous = this.#readings[partition];
    // Keep the earlier reading: if the gateway was blocked, most new readings are wrong by the same
    // time, and so would be the median.
    if (previous && this.#isLarge(error) && !this.#isLarge(previous.error)) return;
    this.#readings[partition] = { offset: clock - middle, error };
    this.#median = computeMedian([
      ...this.#readings.flatMap((reading) => reading?.offset ?? []),
      received.wall - received.elapsed,
    ]);
  }

  /** Returns the time of the site. */
  at({ elapsed, wall }: GatewayTime): Stamp {
    return Math.round(this.#median === undefined ? wall : elapsed + this.#median);
  }

  /** Returns whether the clock of `partition` is close enough to the time of the site. */
  isTrusted(partition: number): boolean {
    const reading = this.#readings[partition];
    if (reading === undefined || this.#median === undefined) return true;
    return Math.abs(reading.offset - this.#median) <= this.#maxClockSkew + reading.error;
  }

  /** Returns whether the error of a reading exceeds the allowed clock skew. */
  #isLarge(error: Stamp): boolean {
    return error > this.#maxClockSkew / 2;
  }
}

function computeMedian(offsets: readonly Stamp[]): Stamp {
  const sorted = offsets.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
