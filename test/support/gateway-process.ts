/** A gateway in a process of its own, to be killed: prints its address, answers preliminaries, never finals on request. */
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { StoreDouble } from './wire.ts';

const [, , port = '0', finals = 'yes'] = process.argv;
// What was under way when a process was killed is asked of the next one, under the same name.
const store = Object.assign(new StoreDouble(), { isExactlyOnce: true });
store.answer = ({ sink, levels }) => {
  sink.view(`guess of ${process.pid}`, 'weak');
  if (finals === 'yes' && levels.includes('strong')) sink.view(`final of ${process.pid}`, 'strong');
};
const gateway = createGateway({ binding: store });
const listener = await listenGateways({ sites: { here: gateway }, port: Number(port) });
process.stdout.write(`${listener.siteUrl('here')}\n`);
