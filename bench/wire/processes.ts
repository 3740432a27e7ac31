/** Starts a server and a client process for one contender and talks to them. */
import { findScript } from '../harness/checkouts.ts';
import { answer, ask, startChild } from '../harness/children.ts';
import { checkViews } from '../harness/preconditions.ts';
import type { BytesPerOp, ClientReport, Mode, ProfileReport, ViewsReport } from './messages.ts';

/** The running processes of one contender. While idle, they use no processor time. */
export interface Pair {
  /**
   * Warms up for a quarter of the time, then measures; `bytes` is the size that an operation should
   * have.
   */
  run(window: number, durationMs: number, bytes?: BytesPerOp): Promise<Measured>;
  /** Runs under the profiler, whose own cost is why the figures of that run are thrown away. */
  profile(window: number, durationMs: number): Promise<ProfileReport>;
  stop(): void;
}

/** The measurements of one run. */
export interface Measured {
  readonly opsPerSecond: number;
  readonly clientUsPerOp: number;
  readonly serverUsPerOp: number;
  /** Processor time of both processes for each operation. */
  readonly usPerOp: number;
  readonly bytesSentPerOp: number;
  readonly bytesReceivedPerOp: number;
}

/** Starts the two processes. @param checkout a directory. Default: this checkout */
export async function startPair(mode: Mode, checkout?: string): Promise<Pair> {
  const server = startChild(findScript('bench/wire/server.ts', checkout), [mode]);
  const { url } = await answer<{ url: string }>(server);
  const client = startChild(findScript('bench/wire/client.ts', checkout), [mode, url]);
  await answer(client);
  return {
    async run(window, durationMs, bytes) {
      await ask<ClientReport>(client, { run: { window, durationMs: durationMs / 4, bytes } });
      const before = await ask<{ cpuUs: number }>(server, 'cpu');
      const measured = await ask<ClientReport>(client, { run: { window, durationMs, bytes } });
      const after = await ask<{ cpuUs: number }>(server, 'cpu');
      const views = mode === 'gateway-views' ? await ask<ViewsReport>(client, 'views') : undefined;
      return measuredOf(measured, { serverUs: after.cpuUs - before.cpuUs, views });
    },
    async profile(window, durationMs) {
      await ask(server, 'profile');
      await ask(client, { run: { window, durationMs } });
      const { profile } = await ask<{ profile: ProfileReport }>(server, 'profiled');
      return profile;
    },
    stop() {
      for (const child of [client, server]) if (child.connected) child.disconnect();
    },
  };
}

/** The facts about a run that its client does not report. */
export interface Beside {
  /** Processor time that the server took meanwhile. */
  readonly serverUs: number;
  /** The views of operations after the run, if both views are requested. */
  readonly views?: ViewsReport | undefined;
}

/**
 * Computes the measurements of one run. @throws Error if operations lack preliminary views, because
 * they and their echo would then be cheaper
 */
export function measuredOf(
  { operations, elapsedMs, cpuUs, bytes }: ClientReport,
  { serverUs, views }: Beside,
): Measured {
  if (views !== undefined) checkViews('both views', views);
  return {
    opsPerSecond: (operations / elapsedMs) * 1000,
    clientUsPerOp: cpuUs / operations,
    serverUsPerOp: serverUs / operations,
    usPerOp: (cpuUs + serverUs) / operations,
    bytesSentPerOp: bytes.sent,
    bytesReceivedPerOp: bytes.received,
  };
}
