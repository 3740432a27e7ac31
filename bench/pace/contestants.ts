/**
 * Starts what `pace` compares: the processes of one checkout, behind the interface of load
 * benchmarks.
 */
import { startCrowd } from '../crowd/bench.ts';
import { findScript } from '../harness/checkouts.ts';
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { checkoutOf, startContestant, type Contestant, type Measured } from '../load/processes.ts';
import type { Target } from '../load/messages.ts';
import { startPair } from '../wire/processes.ts';

/** Starts the processes of a checkout. */
export type StartOne = (target: Target) => Promise<Contestant>;

const CONNECTIONS = 200;

/** One site with one client. */
export const startSite: StartOne = (target) => startContestant(target);

/** One site with many connections. */
export const startSiteOfCrowd: StartOne = (target) => startCrowd(target, CONNECTIONS);

/** The memory binding behind a gateway, with a client that gets both views. */
export const startWire: StartOne = async (target) => {
  const pair = await startPair('gateway-views', checkoutOf(target));
  return {
    run: async ({ window, durationMs }) => toMeasured(await pair.run(window, durationMs)),
    stop: async () => pair.stop(),
  };
};

/** The library alone, in a process of its own. */
export function startWay(name: 'callbacks' | 'awaited' | 'invoke', operations: number): StartOne {
  return async (target) => {
    const contenders = findScript('bench/core/contenders.ts', checkoutOf(target)).href;
    const child = startChild(new URL('../core/child.ts', import.meta.url), [contenders, name]);
    await answer(child);
    return {
      async run() {
        const { usPerOp } = await ask<{ usPerOp: number }>(child, operations as never);
        return toMeasured({ clientUsPerOp: usPerOp, opsPerSecond: 1e6 / usPerOp });
      },
      stop: () => ended(child),
    };
  };
}

/** Fills in the figures that a contestant does not have. */
function toMeasured(
  item: Partial<Measured> & Pick<Measured, 'opsPerSecond' | 'clientUsPerOp'>,
): Measured {
  return { serverUsPerOp: null, serverCores: null, p50Ms: NaN, p99Ms: NaN, p999Ms: NaN, ...item };
}
