/** A gateway with the default limits in a process of its own, which tells what it holds. Needs `--expose-gc`. */
import { measured, rememberedBy } from '../fuzz/measure.ts';
import type { FromTarget, ToTarget } from '../fuzz/messages.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen.ts';
import { CountingStore } from './hostile/counting-store.ts';

const gateway = createGateway({ binding: new CountingStore() });
const listener = await listenGateways({ sites: { here: gateway } });
const tell = (message: FromTarget): void => void process.send?.(message);

process.on('message', (message: ToTarget) => {
  if (message.kind !== 'measure') return;
  const status = gateway.status();
  void measured(status.connections, rememberedBy(status)).then((measure) =>
    tell({ kind: 'measured', measure, executed: {} }),
  );
});
process.on('disconnect', () => process.exit());
tell({ kind: 'ready', urls: { here: listener.siteUrl('here') } });
