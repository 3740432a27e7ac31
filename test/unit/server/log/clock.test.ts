/** Clocks that are set and clocks that are wild: what is refused, and what goes on. */
// @rule RB-Q1, RB-Q2
import { describe, expect, test } from 'vitest';
import { HybridClock } from '../../../../src/server/log/clock.ts';
import { ClockQuarantine } from '../../../../src/server/site/core/clock-quarantine.ts';
import type { PartOptions } from '../../../../src/server/site/core/site-core.ts';
import { Origins, RED } from '../../../../src/server/service/records/origin.ts';
import { siteAt } from '../../../support/origins.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;
const NOW_MS = Date.UTC(2026);
const PEER = siteAt(0);
const OWN = siteAt(2);

describe('hybrid clock', () => {
  test('set back → stamps go on from the highest', () => {
    const clock = new HybridClock();
    const first = clock.next(NOW_MS, 0);
    expect(clock.next(NOW_MS - 60_000, 0)).toBe(first + 1);
  });

  test('a clock beyond the highest possible time → stamps still differ', () => {
    const clock = new HybridClock();
    const stamps = Array.from({ length: 3 }, () => clock.next(NOW_MS + 1000 * YEAR_MS, 5));
    expect(stamps).toEqual([6, 7, 8]);
  });
});

describe('quarantine', () => {
  function make(): { quarantine: ClockQuarantine; reported: string[] } {
    const reported: string[] = [];
    const observer = {
      onQuarantined: (peer: number, aheadMs: number) =>
        void reported.push(`${peer} ${aheadMs} ms ahead`),
      onReleased: (peer: number) => void reported.push(`${peer} released`),
      onClockBehind: (byMs: number, shownBy: string) =>
        void reported.push(`own ${byMs} ms behind (${shownBy})`),
    };
    const place = { origins: Origins.create(['a', 'b', 'c']), site: OWN };
    return {
      quarantine: new ClockQuarantine({
        maxClockSkewMs: 1000,
        observer,
        ...place,
      } as unknown as PartOptions),
      reported,
    };
  }
  const stampAt = (ms: number): number => ms * 1000;
  const stampsOf = (msByOrigin: Readonly<Record<number, number>>): number[] =>
    [RED, PEER, siteAt(1), OWN].map((origin) => stampAt(msByOrigin[origin] ?? 0));

  test('a stamp of the past that is far ahead, clocks alike → taken', () => {
    const { quarantine, reported } = make();
    quarantine.advance(0, NOW_MS);
    quarantine.noteClock(PEER, NOW_MS);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS + YEAR_MS))).toBe(true);
    expect(reported).toEqual([]);
  });

  test('a peer years ahead → refused, but for what it stamped before; taken once its clock is right', () => {
    const { quarantine, reported } = make();
    quarantine.advance(0, NOW_MS);
    quarantine.noteClock(PEER, NOW_MS + YEAR_MS);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS + YEAR_MS))).toBe(false);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS - 1))).toBe(true);
    quarantine.noteClock(PEER, NOW_MS);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS + YEAR_MS))).toBe(true);
    expect(reported).toEqual([`1 ${YEAR_MS} ms ahead`, '1 released']);
  });

  test('the own clock set back → the others are not taken for wild', () => {
    const { quarantine, reported } = make();
    quarantine.advance(0, NOW_MS);
    quarantine.advance(100, NOW_MS - 60_000);
    quarantine.noteClock(PEER, NOW_MS + 100);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS + 100))).toBe(true);
    expect(reported).toEqual([]);
  });

  test('a start with a clock behind the stamps in the own log and behind another site → names itself, takes from all', () => {
    const { quarantine, reported } = make();
    quarantine.begin(0, NOW_MS - 3_600_000, stampsOf({ [OWN]: NOW_MS - 500 }));
    for (const peer of [PEER, siteAt(1)]) quarantine.noteClock(peer, NOW_MS);
    quarantine.advance(5000, NOW_MS - 3_595_000);
    quarantine.noteClock(PEER, NOW_MS + 5000);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS + 5000))).toBe(true);
    expect(reported).toEqual(['own 3600000 ms behind (log)']);
  });

  test('a start with stamps of the past that are ahead, clocks alike → nothing is reported', () => {
    const { quarantine, reported } = make();
    quarantine.begin(0, NOW_MS, stampsOf({ [OWN]: NOW_MS + YEAR_MS }));
    quarantine.noteClock(PEER, NOW_MS);
    quarantine.noteClock(siteAt(1), NOW_MS + YEAR_MS);
    expect(reported).toEqual([`2 ${YEAR_MS} ms ahead`]);
  });

  test('a start on the state of a peer whose clock is wild → the peer is refused, also if it is heard first', () => {
    const { quarantine, reported } = make();
    quarantine.begin(
      0,
      NOW_MS,
      stampsOf({ [RED]: NOW_MS + 3_600_000, [PEER]: NOW_MS + 3_600_000 }),
    );
    quarantine.noteClock(PEER, NOW_MS + 3_600_000);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS + 3_600_000))).toBe(false);
    quarantine.noteClock(siteAt(1), NOW_MS);
    expect(reported).toEqual(['1 3600000 ms ahead']);
  });

  test('a start behind, with stamps of one other site alone → the clock of a third one decides', () => {
    const { quarantine, reported } = make();
    quarantine.begin(0, NOW_MS - 3_600_000, stampsOf({ [PEER]: NOW_MS }));
    for (const peer of [PEER, siteAt(1), PEER]) quarantine.noteClock(peer, NOW_MS);
    expect(quarantine.acceptsStampsFrom(PEER, stampAt(NOW_MS))).toBe(true);
    expect(reported).toEqual(['1 3600000 ms ahead', 'own 3600000 ms behind (log)', '1 released']);
  });

  test('most other sites are ahead → names itself too', () => {
    const { quarantine, reported } = make();
    quarantine.advance(0, NOW_MS - 3_600_000);
    for (const peer of [PEER, siteAt(1)]) quarantine.noteClock(peer, NOW_MS);
    expect(reported).toEqual([
      '1 3600000 ms ahead',
      '2 3600000 ms ahead',
      'own 3600000 ms behind (sites)',
    ]);
  });

  test('a clock that drifts away → quarantined once it is too far, released when it is set', () => {
    const { quarantine, reported } = make();
    for (let s = 0; s <= 30; s += 1) {
      quarantine.advance(s * 1000, NOW_MS + s * 1000);
      quarantine.noteClock(PEER, NOW_MS + s * 1000 * 1.05);
    }
    quarantine.noteClock(PEER, NOW_MS + 30_000);
    expect(reported).toEqual(['1 1050 ms ahead', '1 released']);
  });
});
