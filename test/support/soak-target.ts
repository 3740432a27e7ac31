/**
 * A gateway with the default limits in a process of its own, and one that lets in one connection of everybody together;
 * it tells what they hold. Needs `--expose-gc`.
 */
import { leftWith, measured, rememberedBy } from '../fuzz/measure.ts';
import type { FromTarget, ToTarget } from '../fuzz/messages.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { CountingStore } from './hostile/counting-store.ts';

const sites = {
  here: createGateway({ binding: new CountingStore() }),
  narrow: createGateway({ binding: new CountingStore(), limits: { connectionsPerPrincipalMax: 1, clientIdleMs: 500 } }),
};
const listener = await listenGateways({ sites });
const tell = (message: FromTarget): void => void process.send?.(message);

process.on('message', (message: ToTarget) => {
  if (message.kind !== 'measure') return;
  const each = Object.values(sites).map((gateway) => ({
    connections: gateway.status().connections,
    ...rememberedBy(gateway.status()),
    ...leftWith(gateway),
  }));
  const sums = each.reduce<Record<string, number>>((sum, one) => {
    for (const [kind, count] of Object.entries(one)) sum[kind] = (sum[kind] ?? 0) + count;
    return sum;
  }, {});
  const { connections = 0, ...remembered } = sums;
  void measured(connections, remembered).then((measure) => tell({ kind: 'measured', measure, executed: {} }));
});
process.on('disconnect', () => process.exit());
tell({ kind: 'ready', urls: { here: listener.siteUrl('here'), narrow: listener.siteUrl('narrow') } });
