import { describe, expect, test } from 'vitest';
import { linesFigure } from '../../../bench/plots/lines.ts';
import { drawFailover } from '../../../bench/plots/processes.ts';
import { describeLines, describeLoads, spreadOf } from '../../../bench/plots/spread.ts';
import { readResult } from '../../../bench/harness/results.ts';

describe('rounds', () => {
  test('five rounds are too few for an interval: a plot shows their range, and says so', () => {
    expect(spreadOf([3, 1, 2, 5, 4])).toEqual({ value: 3, low: 1, high: 5 });
    expect(describeLines(5)).toContain('from the lowest to the highest round');
    expect(describeLines(6)).toContain('95 % intervals');
  });

  test('loads are listed once, in the order of the dots of a curve', () => {
    expect(describeLoads('requests in flight', [4, 2048, 16, 4])).toBe(
      'From dot to dot: 4, 16 and 2,048 requests in flight.',
    );
  });
});

test('a curve: dots that are too close share the number of the later one', () => {
  const loads = [1, 2, 64].map((label) => ({ series: 'reads', x: label, y: 10, label }));
  const { svg } = linesFigure({
    title: 'reads',
    note: '',
    see: '',
    colors: { reads: '#1f6fc4' },
    x: { label: 'reads a second' },
    y: { label: 'ms' },
    points: loads,
  });
  const labels = [...svg.matchAll(/font-size="10"[^>]*>(.*?)<\/g>/gs)].map(([, marks = '']) =>
    [...marks.matchAll(/>([^<]+)<\/text>/g)].map(([, text]) => text),
  );
  expect(labels.flat().toSorted()).toEqual(['2', '64']);
});

test('writes around kills: the title has how long clients of the killed site confirm nothing', () => {
  const timeline = { stepMs: 500, away: [5, 5, 5, 0, 0, 4], elsewhere: [5, 5, 5, 5, 5, 5] };
  const report = {
    ...readResult('failover'),
    samples: Array.from({ length: 6 }, () => ({ timeline })),
  };
  expect(drawFailover(report)['failover-writes']?.title).toContain('confirm nothing for 1 s');
});
